//! By position nothing in the middle can be left out.

use tinyagents::prelude::*;

/// Does a thing.
#[tool(format = "ptype")]
async fn take(limit: Option<u32>, query: String) -> String {
    format!("{limit:?}{query}")
}

fn main() {}
