//! A function of another type

use tinyagents::prelude::*;

fn class_of(name: &str) -> bool {
    name.is_empty()
}

/// Take.
#[tool(effect = class_of)]
async fn take() {}

fn main() {}
