//! `#[serde(rename)]` has a word of its own here.

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
fn take(#[serde(rename = "q")] query: String) -> String {
    query
}

fn main() {}
