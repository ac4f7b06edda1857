//! Nobody would see the change.

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
async fn take(text: &mut String) {
    text.clear();
}

fn main() {}
