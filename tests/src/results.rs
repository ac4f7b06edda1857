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
    assert_eq!(run(Blocks).await.content, [ContentBlock::text("one"), ContentBlock::text("two")]);
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
    let call = ToolCall::new("c", "in_any_words", json!({}));
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

/// Fail with the error of `anyhow`.
#[tool(read_only)]
fn with_anyhow() -> anyhow::Result<String> {
    Err(anyhow::Error::new(Typed).context("password=hunter2"))
}

/// Fail by `?`.
#[tool(read_only)]
async fn by_question_mark() -> Result<String, ToolError> {
    Err(Typed)?
}

/// Fail with words for the model and a source for the application.
#[tool(read_only)]
fn with_source() -> Result<String, ToolError> {
    Err(ToolError::retry_with("fill the kettle first").with_source(Typed))
}

/// Fail for good, with everything at hand.
#[tool(read_only)]
fn fatally() -> Result<String, ToolError> {
    Err(ToolError::fatal("the kettle burnt").with_source(Typed))
}

/// Ask for a person.
#[tool(payment, retries = 2, idempotent)]
fn pay() -> Result<String, ToolError> {
    Err(ToolError::approval("pay 5 EUR"))
}

/// Wait for something.
#[tool(external_service)]
fn wait_for_it() -> Result<String, ToolError> {
    Err(ToolError::suspend("the parcel is on its way"))
}

/// Notes the types of the errors that it sees.
#[derive(Clone, Default)]
struct Types(std::sync::Arc<std::sync::Mutex<Vec<&'static str>>>);

#[tinyagents::async_trait]
impl tinyagents::harness::middleware::Middleware<()> for Types {
    async fn on_tool_error(&self, _: &RunContext, (): &(), call: &ToolCall, error: &ToolError) {
        assert_ne!(call.name, "", "the call is at hand");
        let any = error.downcast_ref::<anyhow::Error>();
        let boxed = error.downcast_ref::<Erased>();
        let seen = if error.downcast_ref::<Typed>().is_some() {
            assert_eq!(error.source().unwrap().to_string(), "the kettle is empty");
            "typed"
        } else if any.is_some_and(|any| any.downcast_ref::<Typed>().is_some()) {
            "anyhow"
        } else if boxed.is_some() {
            assert_eq!(error.source().unwrap().to_string(), "password=hunter2");
            "boxed"
        } else {
            "untyped"
        };
        self.0.lock().unwrap().push(seen);
    }
}

#[tokio::test]
async fn m25_the_application_gets_the_typed_error_back() {
    let types = Types::default();
    let mut harness: AgentHarness<()> = AgentHarness::new();
    harness.register_tool(InOwnWords).unwrap().register_tool(Aliased).unwrap();
    harness.register_tool(InAnyWords).unwrap().register_tool(WithAnyhow).unwrap();
    harness.register_tool(ByQuestionMark).unwrap().register_tool(WithSource).unwrap();
    harness.register_tool(Worded).unwrap().with_middleware(types.clone());
    let names = [
        "in_own_words",
        "aliased",
        "by_question_mark",
        "with_source",
        "in_any_words",
        "with_anyhow",
        "worded",
    ];
    let mut said = Vec::new();
    for name in names {
        let call = ToolCall::new("c", name, json!({}));
        said.push(text(&harness.call_tool(&(), RunContext::default(), call).await));
    }
    let seen = types.0.lock().unwrap().clone();
    assert_eq!(seen, ["typed", "typed", "typed", "typed", "boxed", "anyhow", "untyped"]);
    assert!(said[3].contains("fill the kettle first"), "the words are the author's: {}", said[3]);
    assert!(said.iter().all(|text| !text.contains("hunter2")), "{said:?}");
}

#[tokio::test]
async fn a_fatal_error_keeps_its_source() {
    let model = testkit::ScriptedModel::new().call("fatally", json!({}));
    let mut harness: AgentHarness<()> = AgentHarness::new();
    harness.register_model("default", model).unwrap().register_tool(Fatally).unwrap();
    let error = harness.invoke(&(), vec![Message::user("go")]).await.unwrap_err();
    let tinyagents::TinyAgentsError::Tool(error) = error else { panic!("{error:?}") };
    assert!(error.is_fatal() && error.downcast_ref::<Typed>().is_some());
    assert!(!format!("{error:?}").contains("empty"), "the words are those of the outer error");
}

#[tokio::test]
async fn a_tool_that_needs_a_person_is_told_that_nobody_can_be_asked() {
    use tinyagents::harness::event::FailureKind;
    let model = testkit::ScriptedModel::new()
        .calls([ToolCall::new("1", "pay", json!({})), ToolCall::new("2", "wait_for_it", json!({}))])
        .text("I could not.");
    let mut stage = crate::fixture::Stage::new(model).tool(Pay).tool(WaitForIt);
    let run = stage.run().await.unwrap();
    assert_eq!(run.answer().as_deref(), Some("I could not."), "never fatal");
    let results: Vec<_> = crate::fixture::results(&run.messages).iter().map(|result| result.text()).collect();
    assert!(results[0].contains("nobody can be asked in this run: pay 5 EUR"), "{}", results[0]);
    assert!(results[1].contains("cannot wait for one: the parcel is on its way"), "{}", results[1]);
    let failures = stage.events.find(|event| match event {
        AgentEvent::ToolFailed { failure, .. } => Some(*failure),
        _ => None,
    });
    assert_eq!(failures, [FailureKind::Denied, FailureKind::Denied]);
    let started = stage.events.kinds().iter().filter(|kind| **kind == "tool.started").count();
    assert_eq!(started, 2, "never retried");
}

/// Answer in the model's place.
#[tool(read_only, return_direct)]
fn answer_directly(fail: Option<bool>) -> Result<String, ToolError> {
    match fail {
        Some(true) => Err(ToolError::failed("no answer")),
        _ => Ok("the tool's own answer".into()),
    }
}

#[tokio::test]
async fn a_direct_result_is_the_answer_of_the_run() {
    let model = testkit::ScriptedModel::new().call("answer_directly", json!({})).text("never asked");
    let mut stage = crate::fixture::Stage::new(model).tool(AnswerDirectly);
    let run = stage.run().await.unwrap();
    assert_eq!(run.finish, RunFinish::Completed);
    assert_eq!(run.answer().as_deref(), Some("the tool's own answer"));
    assert_eq!(stage.model.requests().len(), 1);
    let kinds = stage.events.kinds();
    assert_eq!(kinds[kinds.len() - 3..], ["tool.completed", "turn.closed", "run.completed"]);
}

#[tokio::test]
async fn a_direct_result_is_no_answer_if_it_failed_or_is_one_of_several() {
    let model = testkit::ScriptedModel::new()
        .call("answer_directly", json!({ "fail": true }))
        .calls([
            ToolCall::new("1", "answer_directly", json!({})),
            ToolCall::new("2", "look", json!({ "q": "tea" })),
        ])
        .text("the model's answer");
    let mut stage = crate::fixture::Stage::new(model).tool(AnswerDirectly);
    let run = stage.run().await.unwrap();
    assert_eq!(run.answer().as_deref(), Some("the model's answer"));
    assert_eq!(stage.looked.get(), 1, "the second call ran as well");
}

#[tokio::test]
async fn what_is_queued_meanwhile_goes_on_after_a_direct_result() {
    let model = testkit::ScriptedModel::new().call("answer_directly", json!({})).text("and more");
    let mut harness: AgentHarness<()> = AgentHarness::new();
    harness.register_model("default", model).unwrap().register_tool(AnswerDirectly).unwrap();
    let ctx = RunContext::default();
    let (handle, queued) = (ctx.handle(), std::sync::atomic::AtomicBool::new(false));
    harness.with_listener(move |record: &EventRecord| {
        let first = !queued.load(std::sync::atomic::Ordering::SeqCst);
        if record.event.kind() == "tool.started" && first {
            queued.store(true, std::sync::atomic::Ordering::SeqCst);
            handle.queue("one more thing").unwrap();
        }
    });
    let run = harness.invoke_in_context(&(), ctx, vec![Message::user("go")]).await.unwrap();
    assert_eq!(run.answer().as_deref(), Some("and more"));
}

#[tokio::test(start_paused = true)]
async fn a_deadline_is_the_nearer_of_the_tools_time_and_the_runs() {
    /// Say how much time is left.
    #[tool(read_only, timeout = "30s")]
    async fn left(#[inject] deadline: Deadline) -> u64 {
        let before = deadline.remaining();
        tokio::time::sleep(std::time::Duration::from_secs(5)).await;
        assert_eq!(before.as_secs() - deadline.remaining().as_secs(), 5);
        before.as_secs()
    }
    let mut harness: AgentHarness<()> = AgentHarness::new();
    harness.register_tool(Left).unwrap();
    for (limit, expected) in [(600, 30), (20, 20)] {
        let mut policy = RunPolicy::recovering();
        policy.limits.max_duration = std::time::Duration::from_secs(limit);
        harness.with_policy(policy);
        let call = ToolCall::new("c", "left", json!({}));
        let result = harness.call_tool(&(), RunContext::default(), call).await;
        assert_eq!(result.value, Some(json!(expected)));
    }
}
