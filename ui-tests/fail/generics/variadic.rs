//! A list of any length is one parameter, not `...`.

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
fn take(first: u8, ...) -> u8 {
    first
}

fn main() {}
