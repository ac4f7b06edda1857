//! `&mut self`, in both spellings.

use std::sync::Arc;

use tinyagents::prelude::*;

struct Counter(u8);

#[tools]
impl Counter {
    /// Count.
    #[tool]
    fn count(&mut self) -> u8 {
        self.0 += 1;
        self.0
    }

    /// Reset.
    #[tool]
    fn reset(self: &mut Self) {
        self.0 = 0;
    }
}

fn main() {
    let set: Toolset<()> = Arc::new(Counter(1)).tools();
    let _ = (set, Counter(1).count());
}
