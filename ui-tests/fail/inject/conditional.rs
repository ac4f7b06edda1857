//! An injected parameter cannot depend on a condition.

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
fn take(#[cfg(all())] #[inject] run: RunId) -> String {
    run.to_string()
}

fn main() {}
