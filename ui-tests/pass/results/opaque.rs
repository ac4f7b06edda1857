//! A type without a name is a result if it can be written as JSON.

use tinyagents::prelude::*;
use tinyagents::serde::Serialize;
use tinyagents::testkit;

/// A list.
#[tool]
fn list() -> impl Serialize + use<> {
    vec![1, 2]
}

/// A list that could fail.
#[tool]
async fn perhaps(fail: bool) -> Result<impl Serialize, ToolError> {
    if fail { Err(ToolError::failed("as asked")) } else { Ok([3]) }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    assert_eq!(List::spec().output_schema, None);
    assert_eq!(testkit::call(&List, &(), json!({})).await.unwrap().value, Some(json!([1, 2])));
    let good = testkit::call(&Perhaps, &(), json!({ "fail": false })).await.unwrap();
    assert_eq!(good.value, Some(json!([3])));
    let bad = testkit::call(&Perhaps, &(), json!({ "fail": true })).await.unwrap();
    assert_eq!(bad.content, [ContentBlock::text("error: as asked")]);
}
