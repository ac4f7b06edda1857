//! A value of the run whose name is a common one: the compiler knows the type

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
fn take(by: Deadline) {
    let _ = by;
}

fn main() {}
