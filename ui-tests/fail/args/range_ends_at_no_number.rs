//! A constant that is no number

use tinyagents::prelude::*;

const END: &str = "z";

/// Take.
#[tool]
async fn take(#[arg(range = 1..=END)] a: u32) {
    println!("{a}");
}

fn main() {}
