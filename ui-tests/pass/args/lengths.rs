//! A length counts characters, items and entries, in the schema and before the body.

use std::collections::BTreeMap;

use tinyagents::prelude::*;
use tinyagents::testkit;

/// Lengths.
#[tool]
async fn lengths(
    #[arg(len = 1..=3)] text: &str,
    #[arg(len = 2..)] list: Option<&[u8]>,
    #[arg(len = ..3)] map: Option<BTreeMap<String, u8>>,
) -> String {
    format!("{text} {list:?} {map:?}")
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let properties = &Lengths::spec().input_schema["properties"];
    assert_eq!(properties["text"], json!({ "type": "string", "minLength": 1, "maxLength": 3 }));
    assert_eq!(properties["list"]["minItems"], 2);
    assert!(properties["list"].get("maxItems").is_none());
    assert_eq!(properties["map"]["maxProperties"], 2);

    let good = json!({ "text": "größe".chars().take(3).collect::<String>(), "list": [1, 2], "map": { "a": 1, "b": 2 } });
    let result = testkit::call(&Lengths, &(), good).await.unwrap();
    assert_eq!(result.content, [ContentBlock::text("grö Some([1, 2]) Some({\"a\": 1, \"b\": 2})")]);
    for (arguments, words) in [
        (json!({ "text": "" }), "`text`: expected between 1 and 3 characters, got 0 characters"),
        (json!({ "text": "abcd" }), "`text`: expected between 1 and 3 characters, got 4 characters"),
        (json!({ "text": "a", "list": [1] }), "`list`: expected at least 2 items, got 1 items"),
        (
            json!({ "text": "a", "map": { "a": 1, "b": 2, "c": 3 } }),
            "`map`: expected at most 2 entries, got 3 entries",
        ),
    ] {
        let result = testkit::call(&Lengths, &(), arguments).await.unwrap();
        let text = format!("{:?}", result.content);
        assert!(result.is_error && text.contains(words), "{text}");
    }
}
