//! One tool twice in a set.

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
    let _: Toolset<()> = toolset![Add, Other, self::Add, Add];
}
