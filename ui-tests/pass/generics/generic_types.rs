//! A parameter's type may be generic, as long as it is whole: `Page<u8>`, `Pair<&str>` of lifetimes.

use tinyagents::prelude::*;
use tinyagents::{schemars::JsonSchema, serde::Deserialize, testkit};

#[derive(Deserialize, JsonSchema)]
#[serde(crate = "tinyagents::serde")]
#[schemars(crate = "tinyagents::schemars")]
struct Page<T, const N: usize> {
    items: Vec<T>,
}

/// How many.
#[tool]
async fn how_many(page: Page<u8, 3>, other: &Page<Page<bool, 1>, 2>) -> usize {
    page.items.len() + other.items.len()
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let other = &HowMany::spec().input_schema["properties"]["other"];
    assert_eq!(other["properties"]["items"]["items"]["properties"]["items"]["items"], json!({ "type": "boolean" }));
    let arguments = json!({ "page": { "items": [1, 2] }, "other": { "items": [{ "items": [] }] } });
    assert_eq!(testkit::call(&HowMany, &(), arguments).await.unwrap().value, Some(json!(3)));
}
