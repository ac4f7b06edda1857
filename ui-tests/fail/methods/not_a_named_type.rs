//! A block of what is no struct or enum of one's own name.

use tinyagents::prelude::*;

trait Finds {}

#[tools]
impl dyn Finds {
    /// Find.
    #[tool]
    async fn find(&self, word: String) -> usize {
        word.len()
    }
}

fn main() {}
