//! A function pointer is no value that JSON has.

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
fn take(apply: fn(u8) -> u8) -> u8 {
    apply(1)
}

fn main() {}
