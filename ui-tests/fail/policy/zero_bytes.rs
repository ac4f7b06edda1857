//! A bound that hides every result.

use tinyagents::prelude::*;

/// Does a thing.
#[tool(max_result_bytes = 0)]
fn take() {}

fn main() {}
