//! The good values of a parameter, whatever its type, and examples of them.

use tinyagents::prelude::*;
use tinyagents::testkit;

/// Lists.
#[tool]
async fn lists(
    #[arg(one_of = ["asc", "desc"], default = "asc")] order: &str,
    #[arg(one_of = [1, 2, 4], example = 2)] scale: Option<u8>,
    #[arg(example = ["a", "b"])] tags: Option<Vec<String>>,
) -> String {
    format!("{order} {scale:?} {tags:?}")
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let properties = &Lists::spec().input_schema["properties"];
    assert_eq!(properties["order"], json!({ "type": "string", "enum": ["asc", "desc"], "default": "asc" }));
    assert_eq!(properties["scale"]["enum"], json!([1, 2, 4]));
    assert_eq!(properties["scale"]["examples"], json!([2]));
    assert_eq!(properties["tags"]["examples"], json!([["a", "b"]]));

    let result = testkit::call(&Lists, &(), json!({ "scale": 4 })).await.unwrap();
    assert_eq!(result.content, [ContentBlock::text("asc Some(4) None")]);
    let result = testkit::call(&Lists, &(), json!({ "scale": 3, "order": "up" })).await.unwrap();
    let text = format!("{:?}", result.content);
    assert!(result.is_error && text.contains("`scale`: expected one of 1, 2, 4, got integer 3"), "{text}");
    assert!(text.contains(r#"`order`: expected one of \"asc\", \"desc\", got string \"up\""#), "{text}");
}
