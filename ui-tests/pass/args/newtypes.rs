//! A newtype and a path are shown as what they hold.

use std::path::PathBuf;

use tinyagents::prelude::*;
use tinyagents::{schemars::JsonSchema, serde::Deserialize, testkit};

/// An id.
#[derive(Deserialize, JsonSchema)]
#[serde(crate = "tinyagents::serde")]
#[schemars(crate = "tinyagents::schemars")]
struct Id(u32);

/// Newtypes.
#[tool]
fn newtypes(id: Id, path: PathBuf, more: Vec<Id>) -> String {
    format!("{} {} {}", id.0, path.display(), more.iter().map(|id| id.0).sum::<u32>())
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let properties = &Newtypes::spec().input_schema["properties"];
    assert_eq!((&properties["id"]["type"], &properties["id"]["minimum"]), (&json!("integer"), &json!(0)));
    assert_eq!(properties["path"], json!({ "type": "string" }));
    let arguments = json!({ "id": 1, "path": "a/b", "more": [2, 3] });
    let result = testkit::call(&Newtypes, &(), arguments).await.unwrap();
    assert_eq!(result.content, [ContentBlock::text("1 a/b 5")]);
}
