//! What is neither a tool nor a set: a function without its attribute, a type, a value.

use tinyagents::prelude::*;

/// Add.
fn add(a: u8, b: u8) -> u8 {
    a + b
}

struct Plain;

fn main() {
    let _: Toolset<()> = toolset![add];
    let _: Toolset<()> = toolset![Plain];
    let _: Toolset<()> = toolset!["text"];
}
