//! A word that stands twice, in one attribute or in two.

use tinyagents::prelude::*;

/// Does a thing.
#[tool(read_only, read_only)]
async fn take(
    #[arg(default = 1)]
    #[arg(default = 2)]
    count: u32,
) -> u32 {
    count
}

fn main() {}
