//! The ten steps of a call, in the specification's order.
//!
//! A probing middleware, an artifact store and a listener write into one log; the log of a whole call is then
//! compared with the order that the specification lists.

mod edges;

use std::sync::{Arc, Mutex};

use serde_json::json;
use tinyagents::TinyAgentsError;
use tinyagents::harness::context::{LimitKind, RunContext, RunLimits, RunPolicy};
use tinyagents::harness::event::{AgentEvent, EventRecord};
use tinyagents::harness::message::{ContentBlock, ToolCall};
use tinyagents::harness::middleware::{Middleware, ToolGate};
use tinyagents::harness::policy::{ToolPolicy, ToolRuntimePolicy};
use tinyagents::harness::runtime::RunFinish;
use tinyagents::harness::store::{ArtifactStore, StoreError, StoreRegistry};
use tinyagents::harness::tool::{DynTool, ToolError, ToolResult};
use tinyagents::testkit::ScriptedModel;

use crate::fixture::{Stage, doing, results};

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn push(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }

    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    fn listener(&self) -> impl Fn(&EventRecord) + Send + Sync + 'static {
        let log = self.clone();
        move |record: &EventRecord| {
            let kind = record.event.kind();
            if kind.starts_with("tool.") {
                log.push(kind);
            }
        }
    }
}

/// Logs its hooks, and does to a call what its name asks for.
struct Probe(Log);

#[tinyagents::async_trait]
impl Middleware<()> for Probe {
    async fn before_tool(&self, _: &RunContext, _: &(), call: &mut ToolCall) -> tinyagents::Result<ToolGate> {
        self.0.push("before_tool");
        match call.name.as_str() {
            "forbidden" => return Ok(ToolGate::reject("not on a Sunday")),
            "broken_hook" => return Err(ToolError::failed("the hook broke").into()),
            "panicking_hook" => panic!("the hook panicked"),
            "serch" => call.name = "look".into(),
            "lost" => call.name = "nowhere".into(),
            _ => {}
        }
        match call.arguments.get("q").and_then(|q| q.as_str()) {
            Some("mend me") => call.arguments = json!({ "q": "mended" }).into(),
            Some("break me") => call.arguments = json!({ "q": 5 }).into(),
            Some("forge me") => call.id = "forged".into(),
            _ => {}
        }
        if call.invalid.is_some() && call.arguments == json!("q=tea") {
            *call = ToolCall::new(call.id.clone(), call.name.clone(), json!({ "q": "tea" }));
        }
        Ok(ToolGate::Proceed)
    }

    async fn after_tool(
        &self,
        _: &RunContext,
        _: &(),
        _: &ToolCall,
        result: &mut ToolResult,
    ) -> tinyagents::Result<()> {
        self.0.push("after_tool");
        if result.content == [ContentBlock::text("found replace me")] {
            result.content = vec![ContentBlock::text("replaced")];
            result.name = serde_json::from_value(json!("forged")).unwrap();
        }
        Ok(())
    }
}

/// Logs what it keeps.
struct ProbeStore(Log);

#[tinyagents::async_trait]
impl ArtifactStore for ProbeStore {
    async fn put(&self, key: &str, _: &str, bytes: Vec<u8>) -> Result<(), StoreError> {
        self.0.push(format!("persist {key} {}", bytes.len()));
        Ok(())
    }

    async fn get(&self, _: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(None)
    }
}

/// A stage whose every step is logged: `look`, a tool `large` whose output is over its bound, a tool `fails`.
fn probed(model: ScriptedModel) -> (Stage, Log) {
    let log = Log::default();
    let mut stage = Stage::new(model);
    stage.harness.with_listener(log.listener()).with_middleware(Probe(log.clone()));
    stage.harness.with_stores(StoreRegistry::new().with_artifacts(ProbeStore(log.clone())));
    let small = ToolPolicy::read_only()
        .with_runtime(ToolRuntimePolicy { max_result_bytes: Some(100), ..Default::default() });
    let body = log.clone();
    let large = doing("large", small, move |_| {
        body.push("execute");
        async { Ok("x".repeat(300)) }
    });
    let fails = doing("fails", ToolPolicy::read_only(), |_| async { Err(ToolError::failed("no luck")) });
    (stage.tool(large).tool(fails), log)
}

async fn steps_of(call: ToolCall, policy: RunPolicy) -> Vec<String> {
    let (stage, log) = probed(ScriptedModel::new().calls([call]).text("done"));
    let _ = stage.policy(policy).run().await;
    log.lines()
}

#[tokio::test]
async fn the_steps_of_a_good_call() {
    let steps = steps_of(ToolCall::new("c", "large", json!({})), RunPolicy::recovering()).await;
    assert_eq!(
        steps,
        [
            "tool.requested",
            // 1: cancellation, deadline and limits leave no trace when they hold; see l01.
            "before_tool", // 2
            // 3 and 4: name and arguments; see the unknown and the invalid call.
            "tool.decided",
            "tool.admitted",
            "tool.started",          // 5
            "execute",               // 6
            "after_tool",            // 7
            "persist run_1/1/0 300", // 8 and 9
            "tool.completed",        // 10
        ]
    );
}

#[tokio::test]
async fn the_steps_of_a_failed_call() {
    let steps = steps_of(ToolCall::new("c", "fails", json!({})), RunPolicy::recovering()).await;
    let expected = [
        "tool.requested",
        "before_tool",
        "tool.decided",
        "tool.admitted",
        "tool.started",
        "after_tool",
        "tool.failed",
    ];
    assert_eq!(steps, expected);
}

#[tokio::test]
async fn the_steps_of_a_denied_call() {
    for name in ["forbidden", "broken_hook", "panicking_hook"] {
        let steps = steps_of(ToolCall::new("c", name, json!({})), RunPolicy::recovering()).await;
        assert_eq!(steps, ["tool.requested", "before_tool", "tool.failed"], "{name}");
    }
}

#[tokio::test]
async fn the_steps_of_an_unknown_call() {
    for policy in [RunPolicy::recovering(), RunPolicy::default()] {
        let steps = steps_of(ToolCall::new("c", "missing", json!({})), policy).await;
        assert_eq!(steps, ["tool.requested", "before_tool", "tool.unknown", "tool.failed"]);
    }
}

#[tokio::test]
async fn the_steps_of_an_invalid_call() {
    for call in [ToolCall::new("c", "look", json!({})), ToolCall::from_text("c", "look", "{")] {
        let steps = steps_of(call, RunPolicy::recovering()).await;
        assert_eq!(steps, ["tool.requested", "before_tool", "tool.invalid_args", "tool.failed"]);
    }
}

#[tokio::test]
async fn l01_a_cancelled_run_looks_at_nothing_else() {
    let log = Log::default();
    let ctx = RunContext::default();
    let handle = ctx.handle();
    let model = ScriptedModel::new().respond(move |_| {
        handle.cancel();
        Ok(tinyagents::harness::message::AssistantMessage::calls([ToolCall::new("c", "missing", json!({}))])
            .into())
    });
    let mut stage = Stage::new(model).policy(RunPolicy::default()); // unknown tools fail
    stage.harness.with_listener(log.listener()).with_middleware(Probe(log.clone()));
    let messages = vec![tinyagents::harness::message::Message::user("go")];
    let run = stage.harness.invoke_in_context(&(), ctx, messages).await.unwrap();
    assert_eq!(run.finish, RunFinish::Cancelled);
    assert_eq!(log.lines(), ["tool.requested", "tool.failed"]);
    assert!(run.messages[2].text().contains("cancelled before this call started"));
}

#[tokio::test]
async fn l01_limits_come_before_the_name() {
    let model = ScriptedModel::new().call("missing", json!({}));
    let limits = RunLimits { max_tool_calls: 0, ..RunLimits::default() };
    let (mut stage, log) = probed(model);
    stage = stage.policy(RunPolicy { limits, ..RunPolicy::default() });
    assert!(matches!(stage.fails().await, TinyAgentsError::LimitReached(LimitKind::ToolCalls)));
    assert_eq!(log.lines(), ["tool.requested", "tool.failed"]);
}

#[tokio::test]
async fn l02_a_hook_mends_a_name_before_it_is_looked_up() {
    let model = ScriptedModel::new().call("serch", json!({ "q": "tea" })).text("done");
    let (stage, _) = probed(model);
    let mut stage = stage.policy(RunPolicy::default());
    stage.run().await.unwrap();
    assert_eq!(stage.looked.get(), 1);
    assert!(!stage.events.kinds().contains(&"tool.unknown"));
}

#[tokio::test]
async fn l02_a_hook_mends_arguments_that_were_no_json() {
    let model = ScriptedModel::new().calls([ToolCall::from_text("c", "look", "q=tea")]).text("done");
    let (mut stage, _) = probed(model);
    let run = stage.run().await.unwrap();
    assert_eq!(run.messages[2].text(), "found tea");
}

#[tokio::test]
async fn l02_a_refusal_names_its_reason_and_ends_nothing() {
    let model = ScriptedModel::new().call("forbidden", json!({})).text("done");
    let (stage, _) = probed(model);
    let mut stage = stage.policy(RunPolicy::default());
    let run = stage.run().await.unwrap();
    assert_eq!(run.messages[2].text(), "error: denied, and not executed: not on a Sunday");
}

#[tokio::test]
async fn l03_the_final_name_must_exist() {
    let model = ScriptedModel::new().call("lost", json!({}));
    let (stage, _) = probed(model);
    let error = stage.policy(RunPolicy::default()).fails().await;
    assert!(matches!(error, TinyAgentsError::ToolNotFound(name) if name == "nowhere"));
}

#[tokio::test]
async fn l04_the_final_arguments_are_validated() {
    let call = |q: &str| ToolCall::new("", "look", json!({ "q": q, "extra": true }));
    let model = ScriptedModel::new().calls([call("mend me"), call("break me")]).text("done");
    let (mut stage, _) = probed(model);
    let run = stage.run().await.unwrap();
    assert_eq!(run.messages[2].text(), "found mended");
    assert!(run.messages[3].text().contains("`q`: expected string, got integer 5"));
    assert_eq!(stage.looked.get(), 1);
}

#[tokio::test]
async fn l05_nothing_is_started_that_is_not_valid() {
    let calls = [ToolCall::new("", "look", json!({})), ToolCall::new("", "missing", json!({}))];
    let (mut stage, log) = probed(ScriptedModel::new().calls(calls).text("done"));
    stage.run().await.unwrap();
    assert!(!log.lines().contains(&"tool.started".to_string()));
}

#[tokio::test]
async fn l06_the_body_sees_the_id_of_its_call() {
    let model = ScriptedModel::new()
        .calls([ToolCall::new("call_42", "whoami", json!({ "q": "forge me" }))])
        .text("done");
    let (stage, _) = probed(model);
    let tool =
        DynTool::new("whoami", json!({ "type": "object" }), ToolPolicy::read_only(), |_, call| async move {
            Ok::<_, ToolError>(call.call_id.to_string())
        });
    let run = stage.tool(tool).run().await.unwrap();
    assert_eq!(run.messages[2].text(), "call_42");
    assert_eq!(results(&run.messages)[0].tool_call_id, "call_42");
}

#[tokio::test]
async fn l07_l08_the_message_has_what_the_last_hook_left() {
    let model = ScriptedModel::new().call("look", json!({ "q": "replace me" })).text("done");
    let (mut stage, _) = probed(model);
    let run = stage.run().await.unwrap();
    let result = results(&run.messages)[0];
    assert_eq!(result.tool_call_id, "call_1");
    assert_eq!(result.name, "look", "the executor stamps the name");
    assert_eq!(result.content, [ContentBlock::text("replaced")]);
    assert!(!result.is_error);
}

#[tokio::test]
async fn l09_an_output_over_its_bound_is_kept_whole_before_the_terminal_event() {
    let model = ScriptedModel::new().call("large", json!({})).text("done");
    let (mut stage, log) = probed(model);
    let run = stage.run().await.unwrap();
    let lines = log.lines();
    let at = |line: &str| lines.iter().position(|known| known == line).unwrap();
    assert!(at("persist run_1/1/0 300") < at("tool.completed"));
    let result = results(&run.messages)[0];
    assert!(!result.is_error, "an oversize output is no error");
    assert_eq!(run.artifacts(), result.artifacts);
    assert_eq!((result.artifacts[0].key.as_str(), result.artifacts[0].bytes), ("run_1/1/0", 300));
    assert!(
        result.text().contains("200 of 300 bytes left out; the whole output is kept as artifact `run_1/1/0`")
    );
    let kept = stage.events.find(|event| match event {
        AgentEvent::ToolCompleted { artifacts, .. } => Some(artifacts.clone()),
        _ => None,
    });
    assert_eq!(kept[0], result.artifacts);
}

#[tokio::test]
async fn l09_without_a_store_the_notice_says_that_the_rest_is_gone() {
    let model = ScriptedModel::new().call("large", json!({})).text("done");
    let (mut stage, _) = probed(model);
    stage.harness.with_stores(StoreRegistry::new());
    let run = stage.run().await.unwrap();
    let result = results(&run.messages)[0];
    assert!(result.text().contains("200 of 300 bytes left out; the rest was not kept"), "{}", result.text());
    assert!(result.artifacts.is_empty());
}

#[tokio::test]
async fn l09_a_store_that_fails_is_reported() {
    struct Full;

    #[tinyagents::async_trait]
    impl ArtifactStore for Full {
        async fn put(&self, _: &str, _: &str, _: Vec<u8>) -> Result<(), StoreError> {
            Err(StoreError { store: "disk".into(), reason: "no space left".into() })
        }

        async fn get(&self, _: &str) -> Result<Option<Vec<u8>>, StoreError> {
            Ok(None)
        }
    }

    let model = ScriptedModel::new().call("large", json!({})).text("done");
    let (mut stage, _) = probed(model);
    stage.harness.with_stores(StoreRegistry::new().with_artifacts(Full));
    let run = stage.run().await.unwrap();
    assert!(run.messages[2].text().contains("the rest could not be kept"));
    let reports = stage.events.find(|event| match event {
        AgentEvent::Custom { name, data } => Some((name.clone(), data["error"].clone())),
        _ => None,
    });
    assert_eq!(reports, [("artifact.failed".into(), json!("disk: no space left"))]);
}

#[tokio::test]
async fn l10_every_call_has_one_terminal_event_of_the_right_kind() {
    let calls = [
        ToolCall::new("good", "look", json!({ "q": "tea" })),
        ToolCall::new("error", "fails", json!({})),
        ToolCall::new("denied", "forbidden", json!({})),
        ToolCall::new("unknown", "missing", json!({})),
        ToolCall::new("invalid", "look", json!({})),
        ToolCall::new("panic", "panics", json!({})),
        ToolCall::new("slow", "sleeps", json!({})),
    ];
    let (stage, _) = probed(ScriptedModel::new().calls(calls).text("done"));
    let panics = doing("panics", ToolPolicy::read_only(), |_| async { panic!("oh no") });
    let quick =
        ToolPolicy::read_only().with_runtime(ToolRuntimePolicy { timeout_ms: Some(1), ..Default::default() });
    let sleeps = doing("sleeps", quick, |call| async move {
        call.cancellation.cancelled().await;
        Ok(String::new())
    });
    let mut stage = stage.tool(panics).tool(sleeps);
    stage.run().await.unwrap();
    let ends = stage.events.find(|event| match event {
        AgentEvent::ToolCompleted { call_id, .. } => Some((call_id.to_string(), "completed".to_string())),
        AgentEvent::ToolFailed { call_id, failure, .. } => {
            Some((call_id.to_string(), format!("{failure:?}")))
        }
        _ => None,
    });
    let expected = [
        // What cannot run is answered before anything runs.
        ("denied", "Denied"),
        ("unknown", "UnknownTool"),
        ("invalid", "InvalidArguments"),
        ("good", "completed"),
        ("error", "Error"),
        ("panic", "Panicked"),
        ("slow", "TimedOut"),
    ];
    let expected: Vec<_> = expected.map(|(id, end)| (id.to_string(), end.to_string())).into();
    assert_eq!(ends, expected);
}
