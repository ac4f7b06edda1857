//! A word that `#[tool_type]` does not know.

use tinyagents::prelude::*;

#[tool_type(closed)]
struct Range {
    from: u32,
}

/// Take.
#[tool]
fn take(range: Range) -> u32 {
    range.from
}

fn main() {
    let _ = Take::NAME;
}
