//! A word that stands alone.

use tinyagents::prelude::*;

/// Does a thing.
#[tool(read_only = true)]
fn take() {}

fn main() {}
