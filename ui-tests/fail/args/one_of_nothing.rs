//! `one_of` takes a list with something in it

use tinyagents::prelude::*;

/// Take.
#[tool]
async fn take(#[arg(one_of = [])] a: &str, #[arg(one_of = "a")] b: &str, #[arg(one_of("a"))] c: &str) {
    println!("{a} {b} {c}");
}

fn main() {}
