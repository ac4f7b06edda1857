//! Where serde cannot refuse unknown keys the object stays open, and its schema says so.

use std::collections::BTreeMap;

use tinyagents::prelude::*;
use tinyagents::testkit;

#[tool_type]
struct Labels {
    name: String,
    #[serde(flatten)]
    rest: BTreeMap<String, u8>,
}

/// Count the labels.
#[tool]
async fn count(labels: Labels) -> usize {
    labels.rest.len() + labels.name.len()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> tinyagents::Result<()> {
    let labels = &Count::spec().input_schema["properties"]["labels"];
    assert_ne!(labels["additionalProperties"], false);
    let result = testkit::call(&Count, &(), json!({ "labels": { "name": "x", "a": 1, "b": 2 } })).await?;
    assert_eq!(result.value, Some(json!(3)));
    Ok(())
}
