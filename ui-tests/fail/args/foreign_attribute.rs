//! Nothing reads `#[serde]` on a parameter.

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
async fn take(#[serde(default)] count: u32, #[serde(rename = "type")] kind: String, #[schemars(range(min = 1))] n: u8) -> String {
    format!("{count}{kind}{n}")
}

fn main() {}
