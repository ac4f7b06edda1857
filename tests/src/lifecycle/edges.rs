//! Each step alone, where it meets another one.

use std::time::Duration;

use serde_json::json;
use tinyagents::TinyAgentsError;
use tinyagents::harness::context::{LimitKind, RunContext, RunLimits, RunPolicy};
use tinyagents::harness::event::{AgentEvent, FailureKind};
use tinyagents::harness::message::{ContentBlock, Message, ToolCall};
use tinyagents::harness::middleware::{Middleware, ToolGate};
use tinyagents::harness::policy::{ToolPolicy, ToolRuntimePolicy};
use tinyagents::harness::runtime::RunFinish;
use tinyagents::harness::tool::{DynTool, ToolError, ToolResult};
use tinyagents::testkit::ScriptedModel;

use super::{Log, probed};
use crate::fixture::{Count, Stage, doing, results};

/// Takes long over every call that it is shown, and counts them.
struct Thorough(Count);

#[tinyagents::async_trait]
impl Middleware<()> for Thorough {
    async fn before_tool(&self, _: &RunContext, _: &(), _: &mut ToolCall) -> tinyagents::Result<ToolGate> {
        self.0.add();
        tokio::time::sleep(Duration::from_secs(2)).await;
        Ok(ToolGate::Proceed)
    }
}

#[tokio::test(start_paused = true)]
async fn l01_a_call_past_the_runs_deadline_is_shown_to_nobody() {
    let calls = ["a", "b", "c"].map(|id| ToolCall::new(id, "missing", json!({})));
    let limits = RunLimits { max_duration: Duration::from_secs(3), ..RunLimits::default() };
    let mut stage =
        Stage::new(ScriptedModel::new().calls(calls)).policy(RunPolicy { limits, ..RunPolicy::recovering() });
    let shown = Count::default();
    stage.harness.with_middleware(Thorough(shown.clone()));
    assert!(matches!(stage.fails().await, TinyAgentsError::LimitReached(LimitKind::Duration)));
    assert_eq!(shown.get(), 2, "the third call came after the deadline");
    let kinds = stage.events.find(|event| match event {
        AgentEvent::ToolFailed { failure, .. } => Some(*failure),
        _ => None,
    });
    assert_eq!(kinds, [FailureKind::UnknownTool, FailureKind::UnknownTool, FailureKind::LimitReached]);
}

#[tokio::test(start_paused = true)]
async fn l01_a_run_that_is_cancelled_between_two_calls_looks_at_no_more() {
    let calls = ["a", "b", "c"].map(|id| ToolCall::new(id, "look", json!({ "q": "tea" })));
    let mut stage = Stage::new(ScriptedModel::new().calls(calls));
    let shown = Count::default();
    stage.harness.with_middleware(Thorough(shown.clone()));
    let ctx = RunContext::default();
    let handle = ctx.handle();
    let run = stage.harness.invoke_in_context(&(), ctx, vec![Message::user("go")]);
    let (run, ()) = tokio::join!(run, async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        handle.cancel();
    });
    let run = run.unwrap();
    assert_eq!((run.finish, shown.get(), stage.looked.get()), (RunFinish::Cancelled, 1, 0));
    stage.events.assert_settled();
}

#[tokio::test]
async fn l05_a_call_that_cannot_run_is_never_started() {
    let bad = [
        ToolCall::new("invalid", "look", json!({ "q": 5 })),
        ToolCall::from_text("no_json", "look", "{"),
        ToolCall::new("unknown", "missing", json!({})),
        ToolCall::new("denied", "forbidden", json!({})),
        ToolCall::new("broken", "look", json!({ "q": "break me" })), // a hook breaks it
    ];
    for call in bad {
        let id = call.id.clone();
        let (mut stage, log) = probed(ScriptedModel::new().calls([call]).text("done"));
        stage.run().await.unwrap();
        let lines = log.lines();
        assert!(
            !lines.iter().any(|line| line == "tool.started" || line == "tool.admitted"),
            "{id}: {lines:?}"
        );
        assert_eq!(lines.last().map(String::as_str), Some("tool.failed"), "{id}");
        assert_eq!(stage.looked.get(), 0, "{id}");
    }
    // The same stage does start a good one, so the absence above says something.
    let (mut stage, log) = probed(ScriptedModel::new().call("look", json!({ "q": "tea" })).text("done"));
    stage.run().await.unwrap();
    assert!(log.lines().iter().any(|line| line == "tool.started"));
}

#[tokio::test(start_paused = true)]
async fn l06_every_attempt_sees_the_same_call_id() {
    let log = Log::default();
    let seen = log.clone();
    let policy = ToolPolicy::read_only()
        .with_runtime(ToolRuntimePolicy { max_retries: 2, ..ToolRuntimePolicy::default() });
    let tool = DynTool::new("whoami", json!({ "type": "object" }), policy, move |_, call| {
        seen.push(call.call_id.to_string());
        async { Err::<String, _>(ToolError::transient("not yet")) }
    });
    let model = ScriptedModel::new().calls([ToolCall::new("call_42", "whoami", json!({}))]).text("done");
    let mut stage = Stage::new(model).tool(tool.with_description("Says who it is."));
    let run = stage.run().await.unwrap();
    assert_eq!(log.lines(), ["call_42"; 3]);
    assert_eq!(results(&run.messages)[0].tool_call_id, "call_42");
    let started = stage.events.kinds().iter().filter(|kind| **kind == "tool.started").count();
    assert_eq!(started, 1, "an attempt after the first is no second start");
}

/// Writes what only the executor may write.
struct Forger;

#[tinyagents::async_trait]
impl Middleware<()> for Forger {
    async fn after_tool(
        &self,
        _: &RunContext,
        _: &(),
        _: &ToolCall,
        result: &mut ToolResult,
    ) -> tinyagents::Result<()> {
        result.tool_call_id = "forged".into();
        result.name = serde_json::from_value(json!("forged")).unwrap();
        result.value = Some(json!("forged"));
        Ok(())
    }
}

#[tokio::test]
async fn l08_a_message_has_id_name_content_and_whether_it_is_an_error() {
    let calls = [
        ToolCall::new("good", "look", json!({ "q": "tea" })),
        ToolCall::new("bad", "fails", json!({})),
        ToolCall::new("lost", "missing", json!({})),
    ];
    let mut stage = Stage::new(ScriptedModel::new().calls(calls).text("done")).tool(doing(
        "fails",
        ToolPolicy::read_only(),
        |_| async { Err(ToolError::failed("no luck")) },
    ));
    stage.harness.with_middleware(Forger);
    let run = stage.run().await.unwrap();
    let fields: Vec<_> = results(&run.messages)
        .iter()
        .map(|result| (result.tool_call_id.to_string(), result.name.to_string(), result.is_error))
        .collect();
    let expected = [("good", "look", false), ("bad", "fails", true), ("lost", "missing", true)];
    assert_eq!(fields, expected.map(|(id, name, error)| (id.to_string(), name.to_string(), error)));
    let results = results(&run.messages);
    assert_eq!(results[0].content, [ContentBlock::text("found tea")]);
    assert_eq!(results[1].content, [ContentBlock::text("error: no luck")]);
    assert_eq!(results[1].value, None, "an error has no value, whatever a hook wrote");
}
