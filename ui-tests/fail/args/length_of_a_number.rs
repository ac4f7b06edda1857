//! A number has no length

use tinyagents::prelude::*;

/// Take.
#[tool]
async fn take(#[arg(len = 1..=5)] number: u32, #[arg(len = 1..)] yes: Option<bool>) {
    println!("{number} {yes:?}");
}

fn main() {}
