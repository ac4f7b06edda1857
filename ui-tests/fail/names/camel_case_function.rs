//! The function is named for Rust, not for the model.

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
#[allow(non_snake_case)]
async fn fetchURL() {}

fn main() {}
