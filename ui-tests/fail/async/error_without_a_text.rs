//! An error that has no text.

use tinyagents::prelude::*;

struct Silent;

/// Does a thing.
#[tool]
async fn take() -> Result<String, Silent> {
    Err(Silent)
}

fn main() {}
