//! Calls share the state, so none may change it through a plain reference.

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
fn take(#[inject] list: &mut Vec<u8>) {
    list.clear();
}

fn main() {}
