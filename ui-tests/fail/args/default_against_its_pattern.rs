//! A default that its own pattern refuses

use tinyagents::prelude::*;

/// Take.
#[tool]
async fn take(#[arg(pattern = "^[a-z]+$", default = "A1")] a: &str) {
    println!("{a}");
}

fn main() {}
