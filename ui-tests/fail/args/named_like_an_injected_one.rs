//! The model may not use the name of a hidden parameter.

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
fn take(#[inject] index: &String, #[arg(name = "index")] number: u32) -> String {
    format!("{index}{number}")
}

fn main() {}
