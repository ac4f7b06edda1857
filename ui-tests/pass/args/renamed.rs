//! `#[arg(name)]` and raw identifiers give the name that the model uses.

use tinyagents::prelude::*;
use tinyagents::testkit;

/// Names.
#[tool]
async fn names(
    r#type: String,
    #[arg(name = "max-results", description = "At most this many.")] limit: u32,
    /// Not this.
    #[arg(description = "But this.")]
    other: bool,
) -> String {
    format!("{} {limit} {other}", r#type)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    assert_eq!(Names::PARAMETERS, ["type", "max-results", "other"]);
    let properties = &Names::spec().input_schema["properties"];
    assert_eq!(properties["type"], json!({ "type": "string" }));
    assert_eq!(properties["max-results"]["description"], "At most this many.");
    assert_eq!(properties["other"]["description"], "But this.");
    let arguments = json!({ "type": "t", "max-results": 3, "other": true });
    let result = testkit::call(&Names, &(), arguments).await.unwrap();
    assert_eq!(result.content, [ContentBlock::text("t 3 true")]);
}
