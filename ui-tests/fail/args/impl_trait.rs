//! `impl Trait` has no schema.

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
fn take(text: impl Into<String>) -> String {
    text.into()
}

fn main() {}
