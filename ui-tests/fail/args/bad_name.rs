//! A name that no provider takes.

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
async fn take(#[arg(name = "how many")] count: u32, größe: u32) -> u32 {
    count + größe
}

fn main() {}
