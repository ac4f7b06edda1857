//! A range that nothing is in, or that bounds nothing

use tinyagents::prelude::*;

/// Take.
#[tool]
async fn take(#[arg(range = 5..=1)] a: u32, #[arg(range = ..)] b: u32, #[arg(len = 3..3)] c: String) {
    println!("{a} {b} {c}");
}

fn main() {}
