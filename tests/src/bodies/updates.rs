//! Context updates: applied once, in call order, when the turn closes; what comes later is too late.

use std::sync::{Mutex, mpsc};
use std::time::Duration;

use tinyagents::harness::event::AgentEvent;
use tinyagents::prelude::*;
use tinyagents::testkit::ScriptedModel;

use super::texts;
use super::threads::{runtime, settle, turn, turning};
use crate::fixture::{Recorder, assert_whole};

type Words = Vec<String>;

/// Note a word after a while.
#[tool(read_only)]
async fn note(word: String, after: u64, #[inject] ctx: &RunContext<Words>) -> String {
    tokio::time::sleep(Duration::from_millis(after)).await;
    ctx.update(move |words| words.push(word));
    "noted".into()
}

/// Note the attempt, and fail twice.
#[tool(read_only, retries = 3)]
async fn stubborn(
    #[inject] attempt: Attempt,
    #[inject] ctx: &RunContext<Words>,
) -> Result<String, ToolError> {
    let number = attempt.number();
    ctx.update(move |words| words.push(format!("attempt {number}")));
    if number < 3 { Err(ToolError::transient("busy")) } else { Ok("noted".into()) }
}

/// Give the words.
#[tool(read_only)]
async fn all_words(#[inject] ctx: &RunContext<Words>) -> String {
    ctx.data().join(", ")
}

/// Record an update that cannot be applied.
#[tool(read_only)]
async fn spoil(#[inject] ctx: &RunContext<Words>) -> String {
    ctx.update(|words| assert!(words.len() > 100, "not enough words"));
    "recorded".into()
}

/// A thread that the test holds.
struct Gate {
    wait: Mutex<mpsc::Receiver<()>>,
    free: mpsc::Sender<()>,
    begun: tokio::sync::Notify,
}

/// Note a word when everybody has left.
#[tool(read_only, timeout = "2s")]
fn late(#[inject] gate: &Gate, #[inject] ctx: &RunContext<Words>) -> String {
    ctx.update(|words| words.push("in time".into()));
    gate.begun.notify_one();
    let _ = gate.wait.lock().unwrap().recv();
    ctx.update(|words| words.push("too late".into()));
    "noted".into()
}

/// Let the thread go, and wait for its end.
#[tool(read_only)]
async fn release(#[inject] gate: &Gate) -> String {
    let _ = gate.free.send(());
    // The pool has one thread.
    let _ = tokio::task::spawn_blocking(|| ()).await;
    "released".into()
}

fn harness<S: Send + Sync + 'static>(model: ScriptedModel) -> AgentHarness<S, Words> {
    let mut harness: AgentHarness<S, Words> = AgentHarness::new();
    harness.register_model("default", model).unwrap();
    harness.register_tool(Note).unwrap().register_tool(Stubborn).unwrap();
    harness.register_tool(AllWords).unwrap().register_tool(Spoil).unwrap();
    harness.with_policy(RunPolicy::recovering());
    harness
}

fn noting(word: &str, after: u64) -> ToolCall {
    ToolCall::new("", "note", json!({ "word": word, "after": after }))
}

fn empty() -> RunContext<Words> {
    RunContext::new(RunConfig::default(), Vec::new())
}

#[tokio::test(start_paused = true)]
async fn updates_are_applied_in_call_order_whatever_order_the_calls_end_in() {
    let notes = [noting("one", 300), noting("two", 100), noting("three", 200), noting("four", 0)];
    let model = ScriptedModel::new().calls(notes).call("all_words", json!({})).text("done");
    let run = harness(model).invoke_in_context(&(), empty(), vec![Message::user("go")]).await.unwrap();
    assert_eq!(texts(&run.messages)[4], "one, two, three, four");
}

#[tokio::test(start_paused = true)]
async fn updates_of_an_attempt_that_is_made_again_are_forgotten() {
    let stubborn = ToolCall::new("", "stubborn", json!({}));
    let model = ScriptedModel::new().calls([noting("before", 0), stubborn, noting("after", 0)]);
    let model = model.call("all_words", json!({})).text("done");
    let run = harness(model).invoke_in_context(&(), empty(), vec![Message::user("go")]).await.unwrap();
    assert_eq!(texts(&run.messages)[3], "before, attempt 3, after");
}

#[test]
fn updates_that_a_thread_records_after_its_turn_are_never_applied() {
    runtime(1).block_on(async {
        let (free, wait) = mpsc::channel();
        let gate = Gate { wait: Mutex::new(wait), free, begun: tokio::sync::Notify::new() };
        let gate = std::sync::Arc::new(gate);
        let script = ["late", "release", "all_words", "all_words"];
        let model = script.iter().fold(ScriptedModel::new(), |model, name| model.call(*name, json!({})));
        let mut harness = harness::<Gate>(model.text("done"));
        harness.register_tool(Late).unwrap().register_tool(Release).unwrap();
        let run = harness.invoke_in_context(std::sync::Arc::clone(&gate), empty(), vec![Message::user("go")]);
        let steps = async {
            gate.begun.notified().await;
            settle().await;
            turn(2_000).await;
            turn(5_000).await;
        };
        let run = turning(run, steps).await.unwrap();
        let texts = texts(&run.messages);
        assert!(texts[0].contains("still runs"), "{texts:?}");
        assert_eq!(texts[1..], ["released", "in time", "in time"]);
    });
}

#[tokio::test]
async fn an_update_that_panics_ends_the_run_with_an_error_and_not_the_program() {
    let (events, ctx) = (Recorder::default(), empty());
    let handle = ctx.handle();
    let mut harness = harness(ScriptedModel::new().call("spoil", json!({})).text("never"));
    harness.with_listener(events.listener());
    let error = harness.invoke_in_context(&(), ctx, vec![Message::user("go")]).await.unwrap_err();
    assert_eq!(error.to_string(), "a context update panicked: not enough words");
    assert_whole(&handle.transcript());
    assert_eq!(texts(&handle.transcript()), ["recorded"]);
    let failed = events.find(|event| match event {
        AgentEvent::RunFailed { error } => Some(error.clone()),
        _ => None,
    });
    assert_eq!(failed, ["a context update panicked: not enough words"]);
    let call = ToolCall::new("c", "spoil", json!({}));
    let result = harness.call_tool(&(), empty(), call).await;
    assert!(result.is_error, "{result:?}");
}
