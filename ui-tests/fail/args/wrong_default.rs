//! A default of another type.

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
async fn take(#[arg(default = "many")] count: u32, #[arg(default = 1.5)] size: u32) -> u32 {
    count + size
}

fn main() {}
