//! A receiver that calls cannot share: the compiler's own words, at the owner.

use std::cell::Cell;

use tinyagents::prelude::*;

struct Counter(Cell<u8>);

#[tools]
impl Counter {
    /// Count.
    #[tool]
    fn count(&self) -> u8 {
        self.0.replace(1)
    }
}

fn main() {
    let _ = Counter(Cell::new(1));
}
