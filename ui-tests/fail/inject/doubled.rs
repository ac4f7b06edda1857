//! `#[inject]` that stands twice.

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
fn take(#[inject] #[inject] run: RunId) -> String {
    run.to_string()
}

fn main() {}
