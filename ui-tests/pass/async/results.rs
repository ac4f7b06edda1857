//! What a function returns is an output by its type, however the type is spelt.

use tinyagents::prelude::*;
use tinyagents::serde::Serialize;
use tinyagents::{schemars, testkit};

type Out<T> = Result<T, std::num::ParseIntError>;

#[derive(Serialize, schemars::JsonSchema)]
#[serde(crate = "tinyagents::serde")]
#[schemars(crate = "tinyagents::schemars")]
struct Hit {
    line: u32,
}

/// A structured value.
#[tool]
async fn hits() -> Vec<Hit> {
    vec![Hit { line: 1 }]
}

/// An aliased result.
#[tool]
async fn parse(text: String) -> Out<i64> {
    text.parse()
}

/// An error without a type.
#[tool]
fn boxed() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    Err("hidden".into())
}

/// Words of one's own.
#[tool]
async fn own() -> Result<Hit, ToolError> {
    Err(ToolError::failed("try another file"))
}

/// An opaque value.
#[tool]
fn opaque() -> impl Serialize {
    Hit { line: 2 }
}

async fn result(tool: &(impl Tool<()> + Clone + 'static), arguments: Value) -> (bool, Option<Value>, String) {
    let result = testkit::call(tool, &(), arguments).await.unwrap();
    (result.is_error, result.value.clone(), format!("{:?}", result.content))
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let schema = Hits::spec().output_schema.as_ref().unwrap();
    assert_eq!(schema["type"], "array");
    assert_eq!(schema["items"]["required"], json!(["line"]));
    assert_eq!(Own::spec().output_schema.as_ref().unwrap()["required"], json!(["line"]));
    assert_eq!(Parse::spec().output_schema, None);
    assert_eq!(Opaque::spec().output_schema, None);

    assert_eq!(result(&Hits, json!({})).await.1, Some(json!([{ "line": 1 }])));
    assert_eq!(result(&Parse, json!({ "text": "12" })).await.1, Some(json!(12)));
    let (failed, _, text) = result(&Parse, json!({ "text": "x" })).await;
    assert!(failed && text.contains("invalid digit"), "{text}");
    let (failed, _, text) = result(&Boxed, json!({})).await;
    assert!(failed && !text.contains("hidden"), "{text}");
    let (failed, _, text) = result(&Own, json!({})).await;
    assert!(failed && text.contains("try another file"), "{text}");
    assert_eq!(result(&Opaque, json!({})).await.1, Some(json!({ "line": 2 })));
}
