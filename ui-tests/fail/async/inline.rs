//! An async function needs no `inline`.

use tinyagents::prelude::*;

/// Does a thing.
#[tool(inline)]
async fn take() {}

fn main() {}
