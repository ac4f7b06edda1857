//! A text is shown as it is, everything else as JSON, and nothing is no error.

use tinyagents::prelude::*;
use tinyagents::testkit;

/// A static text.
#[tool]
async fn fixed() -> &'static str {
    "fixed"
}

/// A number that may be missing.
#[tool]
async fn perhaps(there: bool) -> Option<u8> {
    there.then_some(3)
}

/// Parts.
#[tool]
async fn parts() -> (u8, Vec<bool>) {
    (1, vec![true])
}

/// An output of one's own.
#[tool]
async fn own() -> ToolOutput {
    ToolOutput::json(json!({ "a": 1 }))
}

/// Marked as structured.
#[tool]
async fn marked() -> Json<Vec<u8>> {
    Json(vec![7])
}

async fn value(tool: &(impl Tool<()> + Clone + 'static), arguments: Value) -> Option<Value> {
    let result = testkit::call(tool, &(), arguments).await.unwrap();
    assert!(!result.is_error && !result.content.is_empty());
    result.value.clone()
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let result = testkit::call(&Fixed, &(), json!({})).await.unwrap();
    assert_eq!(result.content, [ContentBlock::text("fixed")]);
    assert_eq!(value(&Perhaps, json!({ "there": true })).await, Some(json!(3)));
    assert_eq!(value(&Perhaps, json!({ "there": false })).await, None);
    assert_eq!(value(&Parts, json!({})).await, Some(json!([1, [true]])));
    assert_eq!(value(&Own, json!({})).await, Some(json!({ "a": 1 })));
    assert_eq!(value(&Marked, json!({})).await, Some(json!([7])));
    assert_eq!(Marked::spec().output_schema.as_ref().unwrap()["type"], "array");
}
