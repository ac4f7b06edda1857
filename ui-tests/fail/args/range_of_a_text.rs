//! A range bounds numbers; a text has a length

use tinyagents::prelude::*;

/// Take.
#[tool]
async fn take(#[arg(range = 1..=5)] text: &str, #[arg(range = 1..)] list: Vec<u8>, #[arg(range = ..2)] yes: bool) {
    println!("{text} {list:?} {yes}");
}

fn main() {}
