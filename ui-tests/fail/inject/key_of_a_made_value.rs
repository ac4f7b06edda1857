//! What the run makes for each call has no key

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
fn take(#[inject("this")] run: RunId, #[inject("other")] thread: Option<ThreadId>) {
    let _ = (run, thread);
}

fn main() {}
