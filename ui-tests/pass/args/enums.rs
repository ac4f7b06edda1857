//! Enums of every kind keep their whole schema, and are read.

use tinyagents::prelude::*;
use tinyagents::{schemars::JsonSchema, serde::Deserialize, testkit};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(crate = "tinyagents::serde", tag = "kind", rename_all = "snake_case")]
#[schemars(crate = "tinyagents::schemars")]
enum Tagged {
    Circle { radius: f64 },
    Nothing,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(crate = "tinyagents::serde", untagged)]
#[schemars(crate = "tinyagents::schemars")]
enum Untagged {
    Id(u64),
    Name(String),
}

/// Enums.
#[tool]
fn enums(shape: Tagged, who: Untagged) -> String {
    format!("{shape:?} {who:?}")
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let properties = &Enums::spec().input_schema["properties"];
    assert_eq!(properties["shape"]["oneOf"][0]["required"], json!(["kind", "radius"]));
    assert_eq!(properties["who"]["anyOf"][0], json!({ "type": "integer", "minimum": 0 }));
    assert_eq!(properties["who"]["anyOf"][1], json!({ "type": "string" }));
    let arguments = json!({ "shape": { "kind": "circle", "radius": 2 }, "who": "Ada" });
    let result = testkit::call(&Enums, &(), arguments).await.unwrap();
    assert_eq!(result.content, [ContentBlock::text(r#"Circle { radius: 2.0 } Name("Ada")"#)]);
}
