//! A runtime value without `#[inject]`.

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
async fn take(cancel: CancellationToken, run: Option<RunId>, ctx: &RunContext) {
    let _ = (cancel, run, ctx);
}

fn main() {
    let _ = Take;
}
