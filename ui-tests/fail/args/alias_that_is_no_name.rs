//! Another name is a name like any other

use tinyagents::prelude::*;

/// Take.
#[tool]
async fn take(#[arg(alias = "how many")] count: u32, #[arg(alias = "api_key")] word: String, #[arg(alias())] size: u32) {
    println!("{count} {word} {size}");
}

fn main() {}
