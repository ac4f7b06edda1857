//! A choice that a word does not have.

use tinyagents::prelude::*;

/// Does a thing.
#[tool(workspace = "write", sandbox = "always")]
fn take() {}

fn main() {}
