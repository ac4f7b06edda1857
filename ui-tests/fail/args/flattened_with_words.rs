//! What describes one parameter describes no struct of them

use tinyagents::prelude::*;

/// Take.
#[tool]
async fn take(#[arg(flatten, name = "page", default, redact)] page: Page) {
    println!("{}", page.limit);
}

#[derive(Default, tinyagents::serde::Serialize, tinyagents::serde::Deserialize, tinyagents::schemars::JsonSchema)]
#[serde(crate = "tinyagents::serde")]
#[schemars(crate = "tinyagents::schemars")]
struct Page {
    limit: u32,
}

fn main() {}
