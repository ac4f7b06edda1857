//! A method cannot be a tool by itself.

use tinyagents::prelude::*;

struct GitHub;

impl GitHub {
    /// Does a thing.
    #[tool]
    async fn issues(&self, repo: String) -> usize {
        repo.len()
    }
}

fn main() {
    let _ = GitHub.issues(String::new());
}
