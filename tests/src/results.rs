//! What a tool gives back: outputs, errors, structured values.

use std::fmt;

use serde_json::json;
use tinyagents::harness::message::Message;
use tinyagents::prelude::*;
use tinyagents::testkit;

#[derive(tinyagents::serde::Serialize, tinyagents::schemars::JsonSchema)]
#[serde(crate = "tinyagents::serde")]
#[schemars(crate = "tinyagents::schemars")]
struct Hit {
    title: String,
    score: u32,
}

fn hit() -> Hit {
    Hit { title: "tea".into(), score: 3 }
}

/// Return a structured value.
#[tool(read_only)]
fn structured() -> Json<Hit> {
    Json(hit())
}

/// Return a structured value or an error.
#[tool(read_only)]
fn perhaps() -> Result<Vec<Hit>, std::io::Error> {
    Ok(vec![hit()])
}

/// Return a text.
#[tool(read_only)]
fn plain() -> String {
    "tea".into()
}

/// Return nothing.
#[tool(read_only)]
fn nothing() {}

/// Return an empty text.
#[tool(read_only)]
fn empty() -> &'static str {
    ""
}

/// Return blocks.
#[tool(read_only)]
fn blocks() -> Vec<ContentBlock> {
    vec![ContentBlock::text("one"), ContentBlock::text("two")]
}

/// Return an output made by hand.
#[tool(read_only)]
fn by_hand() -> ToolOutput {
    ToolOutput::text("for the model").with_value(json!({ "for": "the application" }))
}

async fn run<T: Tool<()> + Clone + 'static>(tool: T) -> ToolResult {
    testkit::call(&tool, &(), json!({})).await.unwrap()
}

fn text(result: &ToolResult) -> String {
    let texts: Vec<_> = result.content.iter().map(|block| format!("{block:?}")).collect();
    texts.join("\n")
}

#[tokio::test]
async fn s12_structured_values_are_kept() {
    let result = run(Structured).await;
    assert_eq!(result.value, Some(json!({ "title": "tea", "score": 3 })));
    assert_eq!(result.content, [ContentBlock::text(r#"{"title":"tea","score":3}"#)]);
    assert_eq!(run(Perhaps).await.value, Some(json!([{ "title": "tea", "score": 3 }])));
    assert_eq!(run(Plain).await.value, None);
    let by_hand = run(ByHand).await;
    assert_eq!(by_hand.content, [ContentBlock::text("for the model")]);
    assert_eq!(by_hand.value, Some(json!({ "for": "the application" })));
}

#[tokio::test]
async fn s12_artifacts_and_values_survive_saving_the_transcript() {
    let text = json!({
        "role": "tool", "tool_call_id": "c", "name": "t",
        "content": [{ "type": "text", "text": "head" }],
        "value": { "a": 1 },
        "artifacts": [{ "key": "run/1/0", "media_type": "text/plain", "bytes": 9 }]
    });
    let message: Message = serde_json::from_value(text.clone()).unwrap();
    assert_eq!(message.as_tool().unwrap().artifacts[0].key, "run/1/0");
    assert_eq!(serde_json::to_value(&message).unwrap(), text);
}

#[test]
fn s22_a_structured_return_has_an_output_schema() {
    let hit = json!({
        "type": "object",
        "properties": { "title": { "type": "string" }, "score": { "type": "integer", "minimum": 0, "maximum": 4294967295u32 } },
        "required": ["title", "score"]
    });
    assert_eq!(Structured::spec().output_schema.as_ref().unwrap(), &hit);
    let many = Perhaps::spec().output_schema.as_ref().unwrap();
    assert_eq!(many["items"], hit);
    assert_eq!(Plain::spec().output_schema, None);
    assert_eq!(Nothing::spec().output_schema, None);
}

#[tokio::test]
async fn a_result_is_never_empty() {
    for result in [run(Nothing).await, run(Empty).await] {
        assert_eq!(result.content, [ContentBlock::text("(no output)")]);
        assert!(!result.is_error);
    }
    assert_eq!(run(Blocks).await.content, [ContentBlock::text("one"), ContentBlock::text("two")]);
}

/// An error with words of its own.
#[derive(Debug)]
struct Typed;

impl fmt::Display for Typed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the kettle is empty")
    }
}

impl std::error::Error for Typed {}

type Erased = Box<dyn std::error::Error + Send + Sync>;

/// Fail in the author's words.
#[tool(read_only)]
fn in_own_words() -> Result<String, Typed> {
    Err(Typed)
}

/// Fail with a text.
#[tool(read_only)]
fn worded() -> Result<String, String> {
    Err("out of tea".into())
}

/// Fail with something that may hold anything.
#[tool(read_only)]
fn in_any_words() -> Result<String, Erased> {
    Err("password=hunter2".into())
}

/// Ask for other arguments.
#[tool(read_only)]
fn retry() -> Result<String, ToolError> {
    Err(ToolError::retry_with("city must be a known one; did you mean Paris?"))
}

type Outcome = Result<String, Typed>;

/// Fail behind an alias.
#[tool(read_only)]
async fn aliased() -> Outcome {
    Err(Typed)
}

#[tokio::test]
async fn an_error_reaches_the_model_in_the_authors_words_or_not_at_all() {
    assert!(text(&run(InOwnWords).await).contains("error: the kettle is empty"));
    assert!(text(&run(Aliased).await).contains("error: the kettle is empty"));
    assert!(text(&run(Worded).await).contains("error: out of tea"));
    assert!(text(&run(Retry).await).contains("did you mean Paris?"));
    let erased = run(InAnyWords).await;
    assert!(erased.is_error && erased.value.is_none());
    assert_eq!(
        erased.content,
        [ContentBlock::text("error: the tool failed with an internal error (error id call_1)")]
    );
}

#[tokio::test]
async fn an_erased_error_is_told_to_the_application() {
    let events = crate::fixture::Recorder::default();
    let mut harness: AgentHarness<()> = AgentHarness::new();
    harness.register_tool(InAnyWords).unwrap().with_listener(events.listener());
    let call = tinyagents::harness::message::ToolCall::new("c", "in_any_words", json!({}));
    harness.call_tool(&(), RunContext::default(), call).await;
    let errors = events.find(|event| match event {
        AgentEvent::ToolFailed { error, .. } => Some(error.clone()),
        _ => None,
    });
    assert_eq!(errors, ["password=hunter2"]);
}

#[tokio::test]
async fn an_output_is_cut_between_characters() {
    /// Return a long text.
    #[tool(read_only, max_result_bytes = "100")]
    fn long() -> String {
        "é".repeat(200)
    }
    let result = run(Long).await;
    let [ContentBlock::Text { text }] = result.content.as_slice() else { panic!("{:?}", result.content) };
    assert!(text.starts_with("éé") && text.ends_with("éé"), "head and tail: {text}");
    assert!(text.contains("of 400 bytes left out"), "{text}");
    assert!(!result.is_error);
}
