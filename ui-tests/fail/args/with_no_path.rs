//! Functions are named by their paths

use tinyagents::prelude::*;

/// Take.
#[tool]
async fn take(#[arg(with = "seconds")] a: u32, #[arg(schema_with = |_| "seconds")] b: u32) {
    println!("{a} {b}");
}

fn main() {}
