//! `read_only` with effects that write.

use tinyagents::prelude::*;

/// Does a thing.
#[tool(read_only, writes_files, network, destructive)]
async fn take() {}

fn main() {}
