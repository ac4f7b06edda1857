//! Values are made for the call; only the state is borrowed.

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
async fn take(#[inject] cancel: &CancellationToken, #[inject] n: &mut u32) {
    let _ = (cancel, n);
}

fn main() {}
