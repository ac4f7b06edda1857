//! A default that is none of the listed values

use tinyagents::prelude::*;

/// Take.
#[tool]
async fn take(#[arg(one_of = ["asc", "desc"], default = "up")] a: &str, #[arg(one_of = [1, 2], default = 3)] b: u8) {
    println!("{a} {b}");
}

fn main() {}
