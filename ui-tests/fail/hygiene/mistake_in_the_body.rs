//! A mistake in the body is reported once, by the compiler.

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
async fn take(text: String) -> usize {
    text.length()
}

fn main() {
    let _ = Take;
}
