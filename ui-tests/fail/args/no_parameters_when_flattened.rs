//! A tool with a flattened struct has no `PARAMETERS`

use tinyagents::prelude::*;

/// Take.
#[tool]
async fn take(#[arg(flatten)] page: Page) {
    println!("{}", page.limit);
}

#[derive(tinyagents::serde::Deserialize, tinyagents::schemars::JsonSchema)]
#[serde(crate = "tinyagents::serde")]
#[schemars(crate = "tinyagents::schemars")]
struct Page {
    limit: u32,
}

const NAMES: &[&str] = Take::PARAMETERS;

fn main() {}
