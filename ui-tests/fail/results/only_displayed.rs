//! A text is returned as a text

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
fn take() -> impl std::fmt::Display {
    "tea"
}

fn main() {}
