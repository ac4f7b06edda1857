//! `type` takes the name of a type, not a path or a text.

use tinyagents::prelude::*;

/// Does a thing.
#[tool(type = kit::Take)]
fn take() {}

fn main() {}
