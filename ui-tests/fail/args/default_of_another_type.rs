//! A default of another type is the error, at the default

use tinyagents::prelude::*;

/// Take.
#[tool]
async fn take(#[arg(default = 7, range = 1..)] number: Option<i64>) {
    println!("{number:?}");
}

fn main() {}
