//! Nothing interrupts an inline tool.

use tinyagents::prelude::*;

/// Does a thing.
#[tool(inline, timeout = "1s")]
fn take() {}

fn main() {}
