//! A choice that a word does not have.

use tinyagents::prelude::*;

/// Does a thing.
#[tool(workspace = "write", sandbox = "always", extra_args = "drop")]
fn take() {}

fn main() {}
