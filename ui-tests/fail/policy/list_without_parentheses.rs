//! A list of texts stands in parentheses.

use tinyagents::prelude::*;

/// Does a thing.
#[tool(credentials = "GITHUB_TOKEN")]
fn take() {}

fn main() {}
