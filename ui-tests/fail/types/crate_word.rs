//! A path that `#[tool_type]` writes itself.

use tinyagents::prelude::*;

#[tool_type]
#[serde(crate = "tinyagents::serde", rename_all = "camelCase")]
struct Range {
    from: u32,
}

fn main() {
    let _ = Range { from: 1 };
}
