//! Parentheses without a key

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
fn take(#[inject()] run: RunId) {
    let _ = run;
}

fn main() {}
