//! The model reads a name, not a pattern.

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
async fn add((a, b): (i64, i64), _: u8) -> i64 {
    a + b
}

fn main() {}
