//! A sandbox that reaches everything is none.

use tinyagents::prelude::*;

/// Does a thing.
#[tool(sandbox = "required", workspace = "any")]
async fn take() {}

fn main() {}
