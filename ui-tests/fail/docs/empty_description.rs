//! An empty `description` describes nothing.

use tinyagents::prelude::*;

#[tool(description = " ")]
fn take() {}

fn main() {}
