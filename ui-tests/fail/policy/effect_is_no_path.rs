//! A function of the arguments is named by its path

use tinyagents::prelude::*;

/// Take.
#[tool(effect = "class_of", grant_keys = |_| Vec::new())]
async fn take() {}

fn main() {}
