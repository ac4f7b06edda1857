//! A run has one context, with data of one type.

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
fn take(#[inject] one: &RunContext<u8>, #[inject] two: &RunContext<u16>) -> bool {
    one.run_id() == two.run_id()
}

fn main() {}
