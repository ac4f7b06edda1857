//! A default outside its own range

use tinyagents::prelude::*;

/// Take.
#[tool]
async fn take(#[arg(range = 1..=50, default = 100)] a: u32, #[arg(range = 0.5..1.0, default = -1)] b: f64) {
    println!("{a} {b}");
}

fn main() {}
