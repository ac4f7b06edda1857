//! A key is a text, not a name of Rust

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
fn take(#[inject(GITHUB_TOKEN)] token: Secret<String>, #[inject("A", "B")] other: Secret<String>) {
    let _ = (token, other);
}

fn main() {}
