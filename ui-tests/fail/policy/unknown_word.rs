//! A word that `#[tool]` does not know.

use tinyagents::prelude::*;

/// Does a thing.
#[tool(readonly, zzz)]
async fn take() {}

fn main() {
    let _ = Take;
}
