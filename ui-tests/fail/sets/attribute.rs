//! An attribute on an entry.

use tinyagents::prelude::*;

/// Add.
#[tool]
fn add(a: u8, b: u8) -> u8 {
    a + b
}

fn main() {
    let set: Toolset<()> = toolset![#[tool] Add];
    let _ = set.len();
}
