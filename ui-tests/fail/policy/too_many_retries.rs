//! More retries than can be counted.

use tinyagents::prelude::*;

/// Does a thing.
#[tool(read_only, retries = 5000000000)]
fn take() {}

fn main() {}
