//! A number of what?

use tinyagents::prelude::*;

/// Does a thing.
#[tool(timeout = 30)]
fn take() {}

fn main() {}
