//! An empty name.

use tinyagents::prelude::*;

/// Does a thing.
#[tool(name = "")]
fn take() {}

fn main() {}
