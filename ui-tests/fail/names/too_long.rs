//! A name longer than any provider takes.

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
async fn aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa() {}

fn main() {}
