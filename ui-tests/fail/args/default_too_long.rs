//! A default that is too long, or too short

use tinyagents::prelude::*;

/// Take.
#[tool]
async fn take(#[arg(len = ..=3, default = "four")] a: &str, #[arg(len = 1.., default = "")] b: String) {
    println!("{a} {b}");
}

fn main() {}
