//! A key that is no parameter is refused by name, also where its value is the default.

use tinyagents::prelude::*;
use tinyagents::testkit;

/// Two numbers.
#[tool]
fn two(a: u8, b: u8) -> u8 {
    a + b
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let result = testkit::call(&Two, &(), json!({ "a": 1, "b": 2, "zz": null })).await.unwrap();
    let text = format!("{:?}", result.content);
    assert!(result.is_error && text.contains("`zz`") && text.contains("`a`, `b`"), "{text}");
    assert_eq!(testkit::call(&Two, &(), json!({ "b": 2, "a": 1 })).await.unwrap().value, Some(json!(3)));
}
