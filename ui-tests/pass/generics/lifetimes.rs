//! Lifetimes are welcome: the function's own, elided ones, and bounds between them.

use std::borrow::Cow;

use tinyagents::prelude::*;
use tinyagents::testkit;

/// Which of the two is longer.
#[tool]
async fn longer<'a, 'b>(a: &'a str, b: &'b str, extra: Cow<'a, str>) -> String
where
    'b: 'a,
{
    let longest: &'a str = if a.len() > b.len() { a } else { b };
    format!("{longest}{extra}")
}

/// Not awaited, and the answer is borrowed.
#[tool]
fn first<'a>(text: &'a str, #[inject] _state: &u8) -> &'a str {
    text.split(' ').next().unwrap_or_default()
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    assert_eq!(Longer::PARAMETERS, ["a", "b", "extra"]);
    let arguments = json!({ "a": "long", "b": "no", "extra": "!" });
    let result = testkit::call(&Longer, &(), arguments).await.unwrap();
    assert_eq!(result.content, [ContentBlock::text("long!")]);
    let result = testkit::call(&First, &0_u8, json!({ "text": "one two" })).await.unwrap();
    assert_eq!(result.content, [ContentBlock::text("one")]);
}
