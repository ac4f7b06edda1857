//! Derives that `#[tool_type]` writes itself.

use tinyagents::prelude::*;
use tinyagents::schemars::JsonSchema;
use tinyagents::serde::{self, Deserialize};

#[tool_type]
#[derive(Debug, Deserialize, Clone, JsonSchema)]
struct Range {
    from: u32,
}

#[tool_type]
#[derive(serde::Serialize)]
enum Mode {
    Fast,
}

/// Take.
#[tool]
fn take(range: Range, mode: Mode) -> Range {
    let Mode::Fast = mode;
    range.clone()
}

fn main() {
    let _ = Take::NAME;
}
