//! Steering a run from outside: cancel, queue, stream.

use futures_util::StreamExt;
use serde_json::json;
use tinyagents::TinyAgentsError;
use tinyagents::harness::context::RunContext;
use tinyagents::harness::event::AgentEvent;
use tinyagents::harness::message::{AssistantMessage, Message};
use tinyagents::harness::model::{
    DeltaSink, Model, ModelError, ModelReply, ModelRequest, ModelSettings, ToolChoice,
};
use tinyagents::harness::runtime::{AgentHarness, RunFinish};
use tinyagents::testkit::ScriptedModel;

use crate::fixture::{Stage, assert_whole};

/// A model that never replies.
struct Silent;

#[tinyagents::async_trait]
impl Model for Silent {
    fn name(&self) -> &str {
        "silent"
    }

    fn provider(&self) -> &str {
        "silent"
    }

    async fn generate(&self, _: &ModelRequest, _: &DeltaSink<'_>) -> Result<ModelReply, ModelError> {
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_cancel_ends_a_run_that_waits_for_the_model() {
    let mut harness: AgentHarness<()> = AgentHarness::new();
    harness.register_model("default", Silent).unwrap();
    let ctx = RunContext::default();
    let handle = ctx.handle();
    let run = harness.invoke_in_context(&(), ctx, vec![Message::user("go")]);
    let (run, ()) = tokio::join!(run, async { handle.cancel() });
    let run = run.unwrap();
    assert_eq!(run.finish, RunFinish::Cancelled);
    assert_eq!(run.messages, [Message::user("go")]);
}

#[tokio::test]
async fn a_run_that_is_dropped_takes_no_more_messages_and_leaves_its_transcript() {
    let mut harness: AgentHarness<()> = AgentHarness::new();
    harness.register_model("default", Silent).unwrap();
    let ctx = RunContext::default();
    let handle = ctx.handle();
    let mut run = Box::pin(harness.invoke_in_context(&(), ctx, vec![Message::user("go")]));
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(run.as_mut().poll(&mut cx).is_pending());
    assert!(handle.queue("still there").is_ok());
    drop(run);
    assert!(handle.queue("too late").is_err());
    assert_eq!(*handle.transcript(), [Message::user("go")]);
}

#[tokio::test]
async fn a_queued_message_enters_between_turns_and_keeps_the_run_going() {
    let ctx = RunContext::default();
    let (first, second) = (ctx.handle(), ctx.handle());
    let after = ctx.handle();
    let model = ScriptedModel::new()
        .respond(move |_| {
            first.queue("and coffee").unwrap();
            Ok(AssistantMessage::calls([tinyagents::harness::message::ToolCall::new(
                "c",
                "look",
                json!({ "q": "tea" }),
            )])
            .into())
        })
        .respond(move |_| {
            second.queue("and milk").unwrap();
            Ok(AssistantMessage::text("tea and coffee").into())
        })
        .text("tea, coffee and milk");
    let stage = Stage::new(model);
    let run = stage.harness.invoke_in_context(&(), ctx, vec![Message::user("tea")]).await.unwrap();
    assert_whole(&run.messages);
    let texts: Vec<_> = run.messages.iter().map(Message::text).collect();
    assert_eq!(
        texts,
        ["tea", "", "found tea", "and coffee", "tea and coffee", "and milk", "tea, coffee and milk"]
    );
    assert!(after.queue("too late").is_err());
    stage.model.assert_complete();
}

#[tokio::test]
async fn a_stream_gives_the_events_and_then_the_result() {
    let stage = Stage::new(ScriptedModel::new().call("look", json!({ "q": "tea" })).text("green or black?"));
    let mut stream =
        stage.harness.invoke_stream(&(), RunContext::default(), vec![Message::user("go")]).unwrap();
    let mut kinds = Vec::new();
    let mut text = String::new();
    while let Some(record) = stream.next().await {
        kinds.push(record.event.kind());
        if let AgentEvent::ModelDelta { text: piece } = record.event {
            text.push_str(&piece);
        }
    }
    assert_eq!(kinds, stage.events.kinds(), "the stream hears what a listener hears");
    assert_eq!((kinds[0], *kinds.last().unwrap()), ("run.started", "run.completed"));
    assert_eq!(text, "green or black?");
    assert_eq!(stream.next().await.map(|record| record.offset), None);
    assert_eq!(stream.result().await.unwrap().answer().as_deref(), Some("green or black?"));
}

#[tokio::test]
async fn a_stream_that_nobody_reads_still_has_its_result() {
    let stage = Stage::new(ScriptedModel::new().text("hello"));
    let stream = stage.harness.invoke_stream(&(), RunContext::default(), vec![Message::user("go")]).unwrap();
    assert_eq!(stream.result().await.unwrap().answer().as_deref(), Some("hello"));
}

#[tokio::test]
async fn a_run_without_a_model_says_what_to_do() {
    let harness: AgentHarness<()> = AgentHarness::new();
    let error = harness.invoke(&(), vec![]).await.unwrap_err();
    assert!(matches!(&error, TinyAgentsError::ModelNotFound(name) if name == "default"));
    assert!(error.to_string().contains("call `register_model` first"));
}

#[tokio::test]
async fn a_required_call_is_required_once() {
    let mut stage = Stage::new(ScriptedModel::new().call("look", json!({ "q": "tea" })).text("tea"));
    stage.harness.with_settings(ModelSettings {
        tool_choice: ToolChoice::Named("look".into()),
        temperature: Some(0.5),
        ..ModelSettings::default()
    });
    stage.run().await.unwrap();
    let choices: Vec<_> = stage.model.requests().iter().map(|r| r.settings.tool_choice.clone()).collect();
    assert_eq!(choices, [ToolChoice::Named("look".into()), ToolChoice::Auto]);
    assert_eq!(stage.model.requests()[1].settings.temperature, Some(0.5));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_can_be_a_task_of_its_own() {
    let model = ScriptedModel::new().call("look", json!({ "q": "tea" })).text("one").text("two");
    let harness = std::sync::Arc::new(Stage::new(model).harness);
    let shared = std::sync::Arc::clone(&harness);
    let run = tokio::spawn(async move { shared.invoke(&(), vec![Message::user("go")]).await });
    assert_eq!(run.await.unwrap().unwrap().answer().as_deref(), Some("one"));
    let stream = harness.invoke_stream(&(), RunContext::default(), vec![Message::user("go")]).unwrap();
    let run = tokio::spawn(stream.result());
    assert_eq!(run.await.unwrap().unwrap().answer().as_deref(), Some("two"));
}
