//! Borrowed parameters and lifetimes of one's own, beside a borrowed receiver.

use std::borrow::Cow;
use std::sync::Arc;

use tinyagents::prelude::*;
use tinyagents::testkit;

struct Words(Vec<String>);

#[tools]
impl Words {
    /// Find words.
    #[tool(read_only)]
    async fn find<'a>(&'a self, start: &'a str, end: Option<&'a str>, also: &[String]) -> Vec<&'a str> {
        std::future::ready(()).await;
        let fits = |word: &&str| word.starts_with(start) && end.is_none_or(|end| word.ends_with(end));
        let mut found: Vec<_> = self.0.iter().map(String::as_str).filter(fits).collect();
        found.truncate(9 - also.len());
        found
    }

    /// The first word.
    #[tool(read_only)]
    fn first(&self) -> Result<Cow<'_, str>, ToolError> {
        self.0.first().map(|word| word.into()).ok_or_else(|| ToolError::failed("none"))
    }

    /// The first word, lent.
    #[tool(read_only)]
    async fn lent(self: &Arc<Self>, mut at: usize) -> &str {
        at += 0;
        &self.0[at]
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> tinyagents::Result<()> {
    let words = Arc::new(Words(vec!["rust".into(), "rest".into(), "ride".into()]));
    let arguments = json!({ "start": "r", "end": "st", "also": [] });
    let found = testkit::call(&WordsFind(Arc::clone(&words)), &(), arguments).await?;
    assert_eq!(found.value, Some(json!(["rust", "rest"])));
    let first = testkit::call(&WordsFirst(Arc::clone(&words)), &(), json!({})).await?;
    assert_eq!(first.content, [ContentBlock::text("rust")]);
    let lent = testkit::call(&WordsLent(words), &(), json!({ "at": 2 })).await?;
    assert_eq!(lent.content, [ContentBlock::text("ride")]);
    Ok(())
}
