//! A name outside ASCII.

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
async fn größe() {}

fn main() {}
