//! A `serde_json::Value` takes anything, and a `Map` any object.

use tinyagents::prelude::*;
use tinyagents::{serde_json, testkit};

/// Anything.
#[tool]
fn anything(value: Value, extra: serde_json::Map<String, Value>) -> Value {
    json!([value, extra])
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let properties = &Anything::spec().input_schema["properties"];
    assert_eq!(properties["extra"]["type"], "object");
    let arguments = json!({ "value": [1, "a"], "extra": { "b": null } });
    let result = testkit::call(&Anything, &(), arguments).await.unwrap();
    assert_eq!(result.value, Some(json!([[1, "a"], { "b": null }])));
}
