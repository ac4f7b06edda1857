//! A result has something to read, whatever the tool gave back: providers refuse an empty one.

use serde_json::json;
use tinyagents::prelude::*;
use tinyagents::testkit::{self, ScriptedModel};

use crate::fixture::{assert_whole, results};

/// Return nothing.
#[tool(read_only)]
fn nothing() {}

/// Return an empty text.
#[tool(read_only)]
fn empty() -> &'static str {
    ""
}

/// Return nothing that there is.
#[tool(read_only)]
fn not_found() -> Option<String> {
    None
}

/// Return nothing without an error.
#[tool(read_only)]
fn well() -> Result<(), String> {
    Ok(())
}

/// Return an empty list.
#[tool(read_only)]
fn no_items() -> Vec<u32> {
    Vec::new()
}

/// Return no blocks.
#[tool(read_only)]
fn no_blocks() -> Vec<ContentBlock> {
    Vec::new()
}

/// Return blocks that a model does not read.
#[tool(read_only)]
fn unread() -> Vec<ContentBlock> {
    vec![ContentBlock::Reasoning { text: "hm".into() }, ContentBlock::text("")]
}

/// Fail without a word.
#[tool(read_only)]
fn fail_silently() -> Result<String, String> {
    Err(String::new())
}

async fn run<T: Tool<()> + Clone + 'static>(tool: T) -> ToolResult {
    testkit::call(&tool, &(), json!({})).await.unwrap()
}

#[tokio::test]
async fn a9_a_result_is_never_empty() {
    let results = [
        run(Nothing).await,
        run(Empty).await,
        run(NotFound).await,
        run(Well).await,
        run(NoBlocks).await,
        run(Unread).await,
    ];
    for result in results {
        assert_eq!(result.content, [ContentBlock::text("(no output)")]);
        assert!(!result.is_error);
    }
    assert_eq!(run(NoItems).await.content, [ContentBlock::text("[]")]);
}

#[tokio::test]
async fn a9_an_error_without_a_word_says_that_it_is_one() {
    let result = run(FailSilently).await;
    let [ContentBlock::Text { text }] = result.content.as_slice() else { panic!("{result:?}") };
    assert!(result.is_error && text.starts_with("error: "), "{text}");
}

/// Write down a word, and say nothing.
#[tool(writes_files)]
async fn jot(word: String, #[inject] ctx: &RunContext<Vec<String>>) {
    ctx.update(move |words: &mut Vec<String>| words.push(word));
}

/// Read what was written down.
#[tool(read_only)]
async fn read(#[inject] ctx: &RunContext<Vec<String>>) -> String {
    ctx.data().join(" ")
}

#[tokio::test]
async fn a10_a_tool_that_only_updates_the_context_has_a_result() {
    let jot = |word: &str| ToolCall::new("", "jot", json!({ "word": word }));
    let model = ScriptedModel::new().calls([jot("one"), jot("two")]).call("read", json!({})).text("done");
    let mut harness: AgentHarness<(), Vec<String>> = AgentHarness::new();
    harness.register_model("default", model).unwrap();
    harness.register_tool(Jot).unwrap().register_tool(Read).unwrap();
    let ctx = RunContext::new(RunConfig::default(), Vec::new());
    let run = harness.invoke_in_context(&(), ctx, vec![Message::user("go")]).await.unwrap();
    assert_whole(&run.messages);
    let texts: Vec<_> = results(&run.messages).iter().map(|result| result.text()).collect();
    assert_eq!(texts, ["(no output)", "(no output)", "one two"]);
}
