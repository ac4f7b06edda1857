//! When a call is made again.
//!
//! Guarantee: only a call that reads or is idempotent, and only for an error that says of itself that it may pass; a
//! call that waits for its next attempt holds nothing, and whatever happens it has one result.

mod attempts;
mod between;

use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tinyagents::harness::context::{RunContext, RunHandle, RunLimits, RunPolicy};
use tinyagents::harness::event::{AgentEvent, FailureKind};
use tinyagents::harness::message::{Message, ToolCall};
use tinyagents::harness::middleware::{Middleware, ToolGate};
use tinyagents::harness::policy::{ToolPolicy, ToolRuntimePolicy};
use tinyagents::harness::runtime::RunFinish;
use tinyagents::harness::tool::{DynTool, Tool, ToolClass, ToolError, ToolResult, ToolRuntime, ToolSpec};
use tinyagents::prelude::Value;
use tinyagents::testkit::ScriptedModel;
use tokio::time::Instant;

use crate::fixture::{Count, Stage, assert_whole, doing, ends, texts};

/// The policies of the table: what reads, what may be done twice, and what may not.
fn policies(max_retries: u32) -> [(&'static str, ToolPolicy); 3] {
    let runtime = ToolRuntimePolicy { max_retries, timeout_ms: Some(1_000), ..Default::default() };
    let idempotent = ToolRuntimePolicy { idempotent: true, ..runtime.clone() };
    [
        ("reads", ToolPolicy::read_only().with_runtime(runtime.clone())),
        ("idempotent", ToolPolicy::classified().with_runtime(idempotent)),
        ("plain", ToolPolicy::classified().with_runtime(runtime)),
    ]
}

/// A tool that reads and may be made again so often.
fn reads(max_retries: u32) -> ToolPolicy {
    let [(_, policy), ..] = policies(max_retries);
    policy
}

/// A tool that fails so often for a reason that may pass, and notes when it starts.
fn flaky(name: &str, policy: ToolPolicy, fails: usize, starts: &Starts) -> impl Tool<()> + use<> {
    let starts = starts.clone();
    doing(name, policy, move |_| {
        let mut starts = starts.0.lock().unwrap();
        starts.push(Instant::now());
        let result =
            if starts.len() > fails { Ok("at last".into()) } else { Err(ToolError::transient("busy")) };
        async { result }
    })
}

#[derive(Clone, Default)]
struct Starts(Arc<Mutex<Vec<Instant>>>);

impl Starts {
    fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    fn gaps(&self) -> Vec<Duration> {
        self.0.lock().unwrap().windows(2).map(|pair| pair[1] - pair[0]).collect()
    }
}

fn one(name: &str) -> ScriptedModel {
    ScriptedModel::new().call(name, json!({})).text("done")
}

/// How often each call's body started, as its last event says.
fn attempts(stage: &Stage) -> Vec<u32> {
    stage.events.find(|event| match event {
        AgentEvent::ToolCompleted { attempts, .. } | AgentEvent::ToolFailed { attempts, .. } => {
            Some(*attempts)
        }
        _ => None,
    })
}

/// The waits that were announced, each with the number of the attempt to come.
fn waits(stage: &Stage) -> Vec<(u32, Duration)> {
    stage.events.find(|event| match event {
        AgentEvent::ToolRetrying { attempt, after, .. } => Some((*attempt, *after)),
        _ => None,
    })
}

/// Everything that can become of a body, and two refusals before it.
const TABLE: [(&str, FailureKind); 14] = [
    ("transient", FailureKind::Error),
    ("failed", FailureKind::Error),
    ("retry_with", FailureKind::Error),
    ("opaque", FailureKind::Error),
    ("fatal", FailureKind::Error),
    ("approval", FailureKind::Denied),
    ("suspend", FailureKind::Denied),
    ("panic", FailureKind::Panicked),
    ("early_panic", FailureKind::Panicked),
    ("timeout", FailureKind::TimedOut),
    ("late_transient", FailureKind::TimedOut),
    ("cancel", FailureKind::Cancelled),
    ("invalid", FailureKind::InvalidArguments),
    ("denied", FailureKind::Denied),
];

async fn body(
    how: String,
    cancellation: tinyagents::CancellationToken,
    run: RunHandle,
) -> Result<String, ToolError> {
    tokio::task::yield_now().await;
    Err(match how.as_str() {
        "transient" => ToolError::transient("busy"),
        "failed" => ToolError::failed("no"),
        "retry_with" => ToolError::retry_with("mend it"),
        "opaque" => ToolError::opaque("secret"),
        "fatal" => ToolError::fatal("over"),
        "approval" => ToolError::approval("pay"),
        "suspend" => ToolError::suspend("wait"),
        "panic" => panic!("oh no"),
        "late_transient" => {
            cancellation.cancelled().await;
            ToolError::transient("busy, and late")
        }
        "cancel" => {
            run.cancel();
            pending().await
        }
        _ => pending().await,
    })
}

/// Refuses what asks for it.
struct Refuses;

#[tinyagents::async_trait]
impl Middleware<()> for Refuses {
    async fn before_tool(&self, _: &RunContext, _: &(), call: &mut ToolCall) -> tinyagents::Result<ToolGate> {
        Ok(if call.arguments["how"] == "denied" { ToolGate::reject("no") } else { ToolGate::Proceed })
    }
}

/// The number of body starts and the last event of one call, for one row of the table.
async fn row(policy: ToolPolicy, how: &str) -> (u32, Stage) {
    let count = Count::default();
    let ctx = RunContext::default();
    let run = ctx.handle();
    let (started, handle) = (count.clone(), run.clone());
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" }, "how": { "type": "string" } } });
    let tried = DynTool::new("tried", schema, policy, move |arguments, call| {
        started.add();
        let how = arguments["how"].as_str().unwrap().to_string();
        assert!(how != "early_panic", "oh no");
        body(how, call.cancellation, handle.clone())
    });
    let arguments = match how {
        "invalid" => json!({ "how": how, "n": "not a number" }),
        _ => json!({ "how": how }),
    };
    let model = ScriptedModel::new().call("tried", arguments).text("done");
    let mut stage = Stage::new(model).tool(tried);
    stage.harness.with_middleware(Refuses);
    let end = ends(stage.harness.invoke_in_context(&(), ctx, vec![Message::user("go")])).await;
    assert_eq!(end.is_err(), how == "fatal");
    assert!(
        end.is_err()
            || end.unwrap().finish
                == if how == "cancel" { RunFinish::Cancelled } else { RunFinish::Completed }
    );
    stage.events.assert_settled();
    assert_whole(&run.transcript());
    (count.get(), stage)
}

#[tokio::test(start_paused = true)]
async fn what_is_made_again_and_how_often() {
    let mut cells = 0;
    for max_retries in [0, 1, 3] {
        for (kind, policy) in policies(max_retries) {
            for (how, failure) in TABLE {
                let what = format!("{how}, {kind}, {max_retries} retries");
                let expected = match how {
                    "transient" if kind != "plain" => 1 + max_retries,
                    "invalid" | "denied" => 0,
                    _ => 1,
                };
                let (starts, stage) = row(policy.clone(), how).await;
                assert_eq!(starts, expected, "{what}");
                let ended = stage.events.find(|event| match event {
                    AgentEvent::ToolFailed { failure, attempts, .. } => Some((*failure, *attempts)),
                    AgentEvent::ToolCompleted { .. } => panic!("{what} cannot end well"),
                    _ => None,
                });
                assert_eq!(ended, [(failure, expected)], "{what}");
                let kinds = stage.events.kinds();
                let count = |kind| kinds.iter().filter(|known| **known == kind).count() as u32;
                assert_eq!(count("tool.started"), expected.min(1), "{what}");
                assert_eq!(count("tool.retrying"), expected.saturating_sub(1), "{what}");
                cells += 1;
            }
        }
    }
    assert_eq!(cells, 3 * 3 * 14);
    println!("{cells} cells of the table of retries hold");
}

#[tokio::test(start_paused = true)]
async fn e49_who_asks_for_a_person_is_not_made_again() {
    for how in ["approval", "suspend"] {
        let (starts, stage) = row(reads(3), how).await;
        assert_eq!((starts, waits(&stage)), (1, vec![]));
        let requests = stage.model.requests();
        let result = requests[1].messages.iter().find_map(Message::as_tool).unwrap();
        assert!(result.text().contains("do not repeat the call, tell the user what is needed"));
    }
}

/// Changes something or not, as its argument says; its policy says the other.
struct Depends {
    policy: ToolPolicy,
    count: Count,
}

#[tinyagents::async_trait]
impl Tool<()> for Depends {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new("depends", "Reads or writes.", json!({ "type": "object" }))
    }

    fn policy(&self) -> ToolPolicy {
        self.policy.clone()
    }

    fn effect(&self, arguments: &Value) -> ToolClass {
        if arguments["reads"] == true { ToolClass::ReadOnly } else { ToolClass::Mutating }
    }

    async fn call(&self, _: &(), _: ToolRuntime<'_>, _: ToolCall) -> tinyagents::Result<ToolResult> {
        self.count.add();
        Err(ToolError::transient("busy").into())
    }
}

#[tokio::test(start_paused = true)]
async fn what_this_very_call_does_decides() {
    for (_, policy) in policies(2).into_iter().filter(|(kind, _)| *kind != "idempotent") {
        for (reads, starts) in [(true, 3), (false, 1)] {
            let count = Count::default();
            let model = ScriptedModel::new().call("depends", json!({ "reads": reads })).text("done");
            let mut stage = Stage::new(model).tool(Depends { policy: policy.clone(), count: count.clone() });
            ends(stage.run()).await.unwrap();
            assert_eq!(count.get(), starts, "reads: {reads}, {policy:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_wait_doubles_and_is_spread() {
    let mut firsts = Vec::new();
    for _ in 0..20 {
        let starts = Starts::default();
        let mut stage = Stage::new(one("flaky")).tool(flaky("flaky", reads(9), 9, &starts));
        let run = ends(stage.run()).await.unwrap();
        assert_eq!(texts(&run.messages), ["at last"]);
        let announced = waits(&stage);
        assert_eq!((announced.len(), attempts(&stage)), (9, vec![10]));
        for (n, ((attempt, wait), gap)) in announced.into_iter().zip(starts.gaps()).enumerate() {
            let longest = Duration::from_millis(100 << n).min(Duration::from_secs(10));
            assert_eq!(attempt as usize, n + 2);
            assert!(longest / 2 <= wait && wait <= longest, "{wait:?} before attempt {attempt}");
            // Timers count in milliseconds.
            assert!(
                wait <= gap && gap <= wait + Duration::from_millis(2),
                "announced {wait:?}, waited {gap:?}"
            );
        }
        firsts.push(waits(&stage)[0].1);
    }
    firsts.sort();
    firsts.dedup();
    assert!(firsts.len() > 10, "calls that failed together would come back together: {firsts:?}");
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_does_not_fit_the_runs_time_is_not_begun() {
    let starts = Starts::default();
    let limits = RunLimits { max_duration: Duration::from_millis(49), ..RunLimits::default() };
    let mut stage = Stage::new(one("flaky"))
        .policy(RunPolicy { limits, ..RunPolicy::recovering() })
        .tool(flaky("flaky", reads(3), 9, &starts));
    let start = Instant::now();
    let run = ends(stage.run()).await.unwrap();
    assert_eq!((start.elapsed(), starts.count()), (Duration::ZERO, 1));
    assert_eq!((texts(&run.messages), run.answer().as_deref()), (vec!["error: busy".into()], Some("done")));
}

#[tokio::test(start_paused = true)]
async fn the_model_and_the_events_hear_how_often_it_was_tried() {
    let starts = Starts::default();
    let mut stage = Stage::new(one("flaky")).tool(flaky("flaky", reads(2), 9, &starts));
    let run = ends(stage.run()).await.unwrap();
    assert_eq!(texts(&run.messages), ["error: busy (after 3 attempts)"]);
    let kinds: Vec<_> = stage.events.kinds().into_iter().filter(|kind| kind.starts_with("tool.")).collect();
    let expected = ["requested", "decided", "admitted", "started", "retrying", "retrying", "failed"]
        .map(|kind| format!("tool.{kind}"));
    assert_eq!(kinds, expected);
}
