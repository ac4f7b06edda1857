//! `crate = path` to something that is not there.

use tinyagents::prelude::*;

/// Does a thing.
#[tool(crate = agents)]
fn take() {}

fn main() {}
