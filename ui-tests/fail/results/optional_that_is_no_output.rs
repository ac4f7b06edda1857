//! An optional value must be an output too

use tinyagents::prelude::*;

struct Plain;

/// Does a thing.
#[tool]
fn take() -> Option<Plain> {
    None
}

fn main() {}
