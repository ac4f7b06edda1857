//! A key stands in parentheses

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
fn take(#[inject = "TOKEN"] token: Secret<String>) {
    let _ = token;
}

fn main() {}
