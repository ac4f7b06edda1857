//! By position nobody knows how many parameters a struct is

use tinyagents::prelude::*;

/// Take.
#[tool(format = "ptype")]
async fn take(#[arg(flatten)] page: Page) {
    println!("{}", page.limit);
}

#[derive(tinyagents::serde::Deserialize, tinyagents::schemars::JsonSchema)]
#[serde(crate = "tinyagents::serde")]
#[schemars(crate = "tinyagents::schemars")]
struct Page {
    limit: u32,
}

fn main() {}
