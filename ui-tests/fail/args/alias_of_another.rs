//! Another name that is already a name

use tinyagents::prelude::*;

/// Take.
#[tool]
async fn take(#[arg(alias = "limit")] count: u32, limit: u32, #[arg(alias("s", "size"))] size: u32, #[arg(alias = "s")] step: u32) {
    println!("{count} {limit} {size} {step}");
}

fn main() {}
