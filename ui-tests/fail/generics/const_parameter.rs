//! A constant parameter is a generic one.

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
fn take<const N: usize>(list: [u8; N]) -> usize {
    list.len()
}

fn main() {}
