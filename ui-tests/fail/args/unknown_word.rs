//! A word that `#[arg]` does not know.

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
async fn take(#[arg(defualt = 3)] count: u32, #[arg(zzz = 3)] size: u32) -> u32 {
    count + size
}

fn main() {}
