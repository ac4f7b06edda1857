//! A secret is found by its name

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
fn take(#[inject] token: Secret<String>) {
    let _ = token;
}

fn main() {
    let _ = Take;
}
