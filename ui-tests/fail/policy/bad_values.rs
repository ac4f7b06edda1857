//! Values of the wrong kind.

use tinyagents::prelude::*;

/// Does a thing.
#[tool(
    name,
    format = "yaml",
    sandbox = true,
    retries = "3",
    max_result_bytes = "64 kilo",
    read_only = false,
    trusted_roots = "src",
    credentials(),
    "text"
)]
async fn take() {}

fn main() {}
