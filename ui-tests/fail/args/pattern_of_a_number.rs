//! Patterns and formats describe texts

use tinyagents::prelude::*;

/// Take.
#[tool]
async fn take(#[arg(pattern = "^a")] number: u32, #[arg(format = "uri")] list: &[String]) {
    println!("{number} {list:?}");
}

fn main() {}
