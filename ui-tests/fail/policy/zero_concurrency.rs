//! A concurrency of zero runs nothing

use tinyagents::prelude::*;

/// Take.
#[tool(concurrency = 0)]
async fn take() {}

fn main() {}
