//! A name that begins with a digit.

use tinyagents::prelude::*;

/// Does a thing.
#[tool(name = "2fast")]
async fn fast() {}

fn main() {}
