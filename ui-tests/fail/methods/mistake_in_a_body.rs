//! A mistake in a method's body is reported once, by the compiler.

use std::sync::Arc;

use tinyagents::prelude::*;

struct Files(u8);

#[tools]
impl Files {
    /// Read a file.
    #[tool(read_only)]
    async fn read(&self, path: String) -> usize {
        path.length()
    }

    /// Keep a type that there is not.
    #[tool]
    fn keep(&self, #[inject] at: &Missing) {
        let _ = at;
    }
}

fn main() {
    let set: Toolset<()> = Arc::new(Files(1)).tools();
    let _ = set.len();
}
