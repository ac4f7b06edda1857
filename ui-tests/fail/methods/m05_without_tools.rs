//! A tool method in an impl block without `#[tools]`.

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
