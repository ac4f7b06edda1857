//! A model must neither see nor choose a secret.

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
async fn take(github_token: String, max_tokens: u32) -> String {
    format!("{github_token}{max_tokens}")
}

fn main() {}
