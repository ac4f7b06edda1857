//! Entries without a comma between them.

use tinyagents::prelude::*;

/// Add.
#[tool]
fn add(a: u8, b: u8) -> u8 {
    a + b
}

/// Other.
#[tool]
fn other() {}

fn main() {
    let set: Toolset<()> = toolset![Add Other];
    let _ = set.len();
}
