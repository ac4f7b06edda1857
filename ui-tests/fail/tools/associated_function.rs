//! An associated function without `self`: no type may stand beside it, and the compiler says so first

use tinyagents::prelude::*;

struct GitHub;

impl GitHub {
    /// Does a thing.
    #[tool]
    async fn search(query: String) -> String {
        query
    }
}

fn main() {}
