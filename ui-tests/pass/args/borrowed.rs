//! A borrowed parameter is read as the owned value and lent.

use std::borrow::Cow;
use std::path::Path;

use tinyagents::prelude::*;
use tinyagents::testkit;

/// Borrowed, awaited.
#[tool]
async fn lent(
    text: &str,
    maybe: Option<&str>,
    list: &[u32],
    lists: &Vec<String>,
    path: &Path,
    cow: Cow<'_, str>,
    some: Option<&[bool]>,
    one: Option<&i64>,
) -> String {
    format!("{text} {maybe:?} {list:?} {lists:?} {} {cow} {some:?} {one:?}", path.display())
}

/// Borrowed, not awaited.
#[tool]
fn lent_here(text: &str, maybe: Option<&str>) -> String {
    format!("{text} {maybe:?}")
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let properties = &Lent::spec().input_schema["properties"];
    assert_eq!(properties["text"], json!({ "type": "string" }));
    assert_eq!(properties["maybe"], json!({ "type": "string" }));
    assert_eq!(properties["path"], json!({ "type": "string" }));
    assert_eq!(properties["lists"], json!({ "type": "array", "items": { "type": "string" } }));
    assert_eq!(Lent::spec().input_schema["required"], json!(["text", "list", "lists", "path", "cow"]));

    let arguments = json!({ "text": "t", "list": [1], "lists": ["l"], "path": "p", "cow": "c", "some": [true] });
    let result = testkit::call(&Lent, &(), arguments).await.unwrap();
    assert_eq!(result.content, [ContentBlock::text(r#"t None [1] ["l"] p c Some([true]) None"#)]);
    let result = testkit::call(&LentHere, &(), json!({ "text": "t", "maybe": "m" })).await.unwrap();
    assert_eq!(result.content, [ContentBlock::text(r#"t Some("m")"#)]);
}
