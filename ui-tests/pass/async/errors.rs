//! Typed errors keep their words, `?` works, and `Err` of a string is the author's own.

use std::fmt;

use tinyagents::prelude::*;
use tinyagents::testkit;

#[derive(Debug)]
struct Missing(&'static str);

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is missing", self.0)
    }
}

impl std::error::Error for Missing {}

/// Typed.
#[tool]
async fn typed() -> Result<u8, Missing> {
    Err(Missing("the index"))
}

/// By `?`.
#[tool]
fn by_question_mark(text: &str) -> Result<f64, ToolError> {
    let number: f64 = text.parse().map_err(|error| ToolError::retry_with(format!("{error}")))?;
    Ok(number * 2.0)
}

/// Own words.
#[tool]
async fn worded(ok: bool) -> Result<u8, String> {
    if ok { Ok(1) } else { Err("not today".into()) }
}

async fn text(tool: &(impl Tool<()> + Clone + 'static), arguments: Value) -> (bool, ContentBlock) {
    let result = testkit::call(tool, &(), arguments).await.unwrap();
    (result.is_error, result.content[0].clone())
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    assert_eq!(text(&Typed, json!({})).await, (true, ContentBlock::text("error: the index is missing")));
    assert_eq!(text(&ByQuestionMark, json!({ "text": "1.5" })).await, (false, ContentBlock::text("3.0")));
    let (failed, words) = text(&ByQuestionMark, json!({ "text": "x" })).await;
    assert!(failed && format!("{words:?}").contains("invalid float"));
    assert_eq!(text(&Worded, json!({ "ok": false })).await, (true, ContentBlock::text("error: not today")));
    assert_eq!(text(&Worded, json!({ "ok": true })).await, (false, ContentBlock::text("1")));
}
