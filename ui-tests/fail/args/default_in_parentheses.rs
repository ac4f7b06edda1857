//! A default stands behind `=`.

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
fn take(#[arg(default(5))] limit: u32) -> u32 {
    limit
}

fn main() {}
