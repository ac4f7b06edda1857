//! Two parameters with one name for the model.

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
async fn take(count: u32, #[arg(name = "count")] other: u32) -> u32 {
    count + other
}

fn main() {}
