//! Tools in the impl of a trait.

use tinyagents::prelude::*;

trait Finds {
    fn find(&self, word: String) -> usize;
}

struct Index;

#[tools]
impl Finds for Index {
    /// Find a word.
    #[tool]
    fn find(&self, word: String) -> usize {
        word.len()
    }
}

fn main() {
    let _ = Index.find(String::new());
}
