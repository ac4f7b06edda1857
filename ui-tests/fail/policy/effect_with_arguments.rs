//! Words of an effect take nothing.

use tinyagents::prelude::*;

/// Does a thing.
#[tool(network("example.org"))]
fn take() {}

fn main() {}
