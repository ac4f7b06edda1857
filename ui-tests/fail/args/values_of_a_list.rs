//! The values of a list are those of its items

use tinyagents::prelude::*;

/// Take.
#[tool]
async fn take(#[arg(one_of = ["a", "b"])] tags: Vec<String>) {
    println!("{tags:?}");
}

fn main() {}
