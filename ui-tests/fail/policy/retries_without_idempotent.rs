//! A retry would repeat the effects.

use tinyagents::prelude::*;

/// Does a thing.
#[tool(retries = 3)]
async fn take() {}

fn main() {}
