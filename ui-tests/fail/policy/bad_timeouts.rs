//! Times that do not parse, or are zero.

use tinyagents::prelude::*;

/// Does a thing.
#[tool(timeout = "soon")]
async fn soon() {}

/// Does a thing.
#[tool(timeout = 30s)]
async fn bare() {}

/// Does a thing.
#[tool(timeout = "0s")]
async fn zero() {}

fn main() {}
