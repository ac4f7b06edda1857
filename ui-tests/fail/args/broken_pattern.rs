//! A pattern that is no regular expression

use tinyagents::prelude::*;

/// Take.
#[tool]
async fn take(#[arg(pattern = "^(a")] text: String, #[arg(pattern = "(?=a)")] other: String) {
    println!("{text} {other}");
}

fn main() {}
