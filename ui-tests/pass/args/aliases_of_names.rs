//! A value under another name is taken; the name is shown nowhere, and two names at once are an error.

use tinyagents::prelude::*;
use tinyagents::testkit;

/// Search.
#[tool(read_only)]
async fn search(
    #[arg(alias = "q")] query: &str,
    #[arg(alias("max", "n"), default = 5, range = ..=9)] limit: u32,
) -> String {
    format!("{query} {limit}")
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    assert_eq!(Search::PARAMETERS, ["query", "limit"]);
    let schema = &Search::spec().input_schema;
    assert_eq!(schema["properties"].as_object().unwrap().keys().collect::<Vec<_>>(), ["query", "limit"]);
    assert_eq!(schema["additionalProperties"], false);

    for arguments in [
        json!({ "query": "x", "limit": 2 }),
        json!({ "q": "x", "n": 2 }),
        json!({ "max": 2, "query": "x" }),
        json!({ "q": "x", "limit": 2.0 }),
    ] {
        let result = testkit::call(&Search, &(), arguments).await.unwrap();
        assert_eq!(result.content, [ContentBlock::text("x 2")]);
    }
    let result = testkit::call(&Search, &(), json!({ "q": "x", "n": null })).await.unwrap();
    assert_eq!(result.content, [ContentBlock::text("x 5")]);
    for (arguments, words) in [
        (json!({ "q": "x", "query": "y" }), "`q`: expected only `query`, got `q`, another name for it, too"),
        (json!({ "q": "x", "max": 1, "n": 1 }), "`max`: expected only `limit`"),
        (json!({ "q": "x", "n": 10 }), "`limit`: expected a number between 0 and 9"),
        (json!({ "qu": "x" }), "unknown argument `qu`"),
    ] {
        let result = testkit::call(&Search, &(), arguments).await.unwrap();
        let text = format!("{:?}", result.content);
        assert!(result.is_error && text.contains(words), "{text}");
    }
}
