//! A plain function that returns a future: write `async fn` instead.

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
fn take() -> impl Future<Output = u8> {
    async { 1 }
}

fn main() {}
