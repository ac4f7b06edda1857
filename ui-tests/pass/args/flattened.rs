//! The fields of a flattened struct are the tool's parameters, read from their own keys only.

use tinyagents::prelude::*;
use tinyagents::schemars::JsonSchema;
use tinyagents::serde::Deserialize;
use tinyagents::testkit;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(crate = "tinyagents::serde", deny_unknown_fields)]
#[schemars(crate = "tinyagents::schemars")]
struct Page {
    /// How many.
    limit: u8,
    offset: Option<u32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(crate = "tinyagents::serde")]
#[schemars(crate = "tinyagents::schemars")]
struct Login {
    token: String,
}

/// Search.
#[tool]
async fn search(
    query: &str,
    #[arg(flatten)] page: &Page,
    #[arg(flatten, not_secret)] login: Option<Login>,
    last: bool,
) -> String {
    format!("{query} {page:?} {login:?} {last}")
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let schema = &Search::spec().input_schema;
    let names = schema["properties"].as_object().unwrap().keys().map(String::as_str);
    assert_eq!(names.collect::<Vec<_>>(), ["query", "limit", "offset", "token", "last"]);
    assert_eq!(schema["required"], json!(["query", "limit", "last"]));
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(
        schema["properties"]["limit"],
        json!({ "description": "How many.", "type": "integer", "minimum": 0, "maximum": 255 })
    );

    let given = json!({ "query": "x", "limit": 3, "last": true });
    let result = testkit::call(&Search, &(), given).await.unwrap();
    assert_eq!(result.content, [ContentBlock::text("x Page { limit: 3, offset: None } None true")]);
    let given = json!({ "query": "x", "limit": 3, "offset": 1, "token": "t", "last": true });
    let result = testkit::call(&Search, &(), given).await.unwrap();
    let text = "x Page { limit: 3, offset: Some(1) } Some(Login { token: \"t\" }) true";
    assert_eq!(result.content, [ContentBlock::text(text)]);
    let given = json!({ "query": "x", "limit": 3, "last": true, "page": {} });
    let result = testkit::call(&Search, &(), given).await.unwrap();
    assert!(result.is_error && format!("{:?}", result.content).contains("unknown argument `page`"));
}
