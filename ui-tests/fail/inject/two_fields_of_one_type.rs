//! The state could provide either.

use tinyagents::prelude::*;

#[derive(ToolState)]
struct App {
    hits: u32,
    misses: u32,
    #[state(skp)]
    other: u8,
}

fn main() {}
