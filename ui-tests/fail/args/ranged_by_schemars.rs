//! Nothing reads `#[schemars]` on a parameter.

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
fn take(#[schemars(range(min = 1))] limit: u32) -> u32 {
    limit
}

fn main() {}
