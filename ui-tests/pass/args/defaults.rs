//! A default is shown to the model and used when the value is left out.

use tinyagents::prelude::*;
use tinyagents::testkit;

const LIMIT: u32 = 5;

/// Defaults.
#[tool]
async fn defaults(
    #[arg(default = LIMIT * 2)] limit: u32,
    #[arg(default = "utf-8")] encoding: String,
    #[arg(default)] tags: Vec<String>,
    #[arg(default = Some(3))] depth: Option<u8>,
    #[arg(default)] note: Option<String>,
    #[arg(default = "x")] borrowed: &str,
    query: String,
) -> String {
    format!("{limit} {encoding} {tags:?} {depth:?} {note:?} {borrowed} {query}")
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let schema = &Defaults::spec().input_schema;
    assert_eq!(schema["required"], json!(["query"]));
    assert_eq!(schema["properties"]["limit"]["default"], 10);
    assert_eq!(schema["properties"]["encoding"], json!({ "type": "string", "default": "utf-8" }));
    assert_eq!(schema["properties"]["tags"]["default"], json!([]));
    assert_eq!(schema["properties"]["depth"]["default"], 3);
    assert_eq!(schema["properties"]["note"], json!({ "type": "string" }));
    assert_eq!(schema["properties"]["borrowed"]["default"], "x");

    let result = testkit::call(&Defaults, &(), json!({ "query": "q" })).await.unwrap();
    assert_eq!(result.content, [ContentBlock::text("10 utf-8 [] Some(3) None x q")]);
    let given = json!({ "query": "q", "limit": 1, "depth": 2, "borrowed": "y" });
    let result = testkit::call(&Defaults, &(), given).await.unwrap();
    assert_eq!(result.content, [ContentBlock::text("1 utf-8 [] Some(2) None y q")]);
}
