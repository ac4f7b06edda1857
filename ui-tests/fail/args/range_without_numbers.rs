//! A range is written as one, with numbers

use tinyagents::prelude::*;

/// Take.
#[tool]
async fn take(
    #[arg(range = 5)] a: u32,
    #[arg(range = "a"..="z")] b: u32,
    #[arg(len = -1..)] c: String,
    #[arg(len = ..=2.5)] d: String,
    #[arg(range = ..=99_999_999_999_999_999_999)] e: u64,
    #[arg(range)] f: u64,
) {
    println!("{a} {b} {c} {d} {e} {f}");
}

fn main() {}
