//! A word of `#[state]` that does not exist.

use tinyagents::prelude::*;

#[derive(ToolState)]
struct App {
    #[state(skipp)]
    name: String,
}

fn main() {}
