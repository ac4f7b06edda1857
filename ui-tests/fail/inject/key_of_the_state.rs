//! What is borrowed is found by its type

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
fn take(#[inject("index")] index: &String) {
    let _ = index;
}

fn main() {}
