//! Bodies: the threads they run on, their time, and what is left of them.
//!
//! Guarantee: every body ends or is answered for, at the latest when its time and its grace are over; what still runs
//! then keeps its permits, and nobody waits for it.

mod blocking;
mod nested;
mod shutdown;
mod threads;
mod time;
mod updates;

use std::time::{Duration, Instant};

use serde_json::json;
use tinyagents::harness::event::{AgentEvent, Effects, FailureKind};
use tinyagents::harness::policy::{ToolPolicy, ToolRuntimePolicy};
use tinyagents::harness::tool::{Tool, ToolError, ToolOutput, ToolResult, ToolRuntime, ToolSpec};
use tinyagents::prelude::{CancellationToken, ToolCall};
use tinyagents::testkit::ScriptedModel;

use crate::fixture::{Count, Stage, doing, results};

/// A policy with a timeout; 0 is none.
fn policy(reads: bool, timeout_ms: u64) -> ToolPolicy {
    let policy = if reads { ToolPolicy::read_only() } else { ToolPolicy::classified() };
    policy.with_runtime(ToolRuntimePolicy {
        timeout_ms: (timeout_ms > 0).then_some(timeout_ms),
        ..Default::default()
    })
}

/// Calls without arguments, with the ids `c1`, `c2`, and so on.
fn calls<const N: usize>(names: [&str; N]) -> Vec<ToolCall> {
    let numbered = names.into_iter().zip(1..);
    numbered.map(|(name, number)| ToolCall::new(format!("c{number}"), name, json!({}))).collect()
}

/// The failures of a run and of the runs within it.
fn failures(stage: &Stage) -> Vec<(FailureKind, Effects)> {
    stage.events.find(|event| match event {
        AgentEvent::ToolFailed { failure, effects, .. } => Some((*failure, *effects)),
        _ => None,
    })
}

/// The texts of a run's results.
fn texts(messages: &[tinyagents::prelude::Message]) -> Vec<String> {
    results(messages).iter().map(|result| result.text()).collect()
}

/// A tool that gets a thread of its own.
struct Plain<F> {
    name: &'static str,
    policy: ToolPolicy,
    body: F,
}

/// A tool that gets a thread of its own and does `body`.
fn plain<F>(name: &'static str, policy: ToolPolicy, body: F) -> Plain<F>
where
    F: Fn(CancellationToken) -> String + Send + Sync + 'static,
{
    Plain { name, policy, body }
}

#[tinyagents::async_trait]
impl<F: Fn(CancellationToken) -> String + Send + Sync + 'static> Tool<()> for Plain<F> {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new(self.name, "Takes a thread.", json!({ "type": "object" })).with_policy(&self.policy)
    }

    fn policy(&self) -> ToolPolicy {
        self.policy.clone()
    }

    fn is_blocking(&self) -> bool {
        true
    }

    async fn call(&self, _: &(), runtime: ToolRuntime<'_>, call: ToolCall) -> tinyagents::Result<ToolResult> {
        Ok(ToolOutput::text((self.body)(runtime.cancellation)).into_result(&call))
    }
}

/// Holds the thread for so long.
fn hold(long: Duration) {
    let start = Instant::now();
    while start.elapsed() < long {
        std::hint::spin_loop();
    }
}

/// How often a tool was reported for holding its thread.
fn reports(stage: &Stage, name: &str) -> usize {
    let least = Duration::from_millis(50);
    let held = stage.events.find(|event| match event {
        AgentEvent::ToolBlocking { tool_name, held, .. } if tool_name == name => Some(*held),
        _ => None,
    });
    assert!(held.iter().all(|held| *held > least), "{held:?}");
    held.len()
}

#[tokio::test]
async fn an_async_body_that_blocks_its_thread_is_reported_once_for_each_such_poll() {
    const LONG: Duration = Duration::from_millis(60);
    let names = ["first_poll", "later_poll", "both_polls", "plain_fn"];
    let model = names.iter().fold(ScriptedModel::new(), |model, name| model.call(*name, json!({})));
    let first = doing("first_poll", ToolPolicy::read_only(), |_| async {
        hold(LONG);
        Ok("held".into())
    });
    let later = doing("later_poll", ToolPolicy::read_only(), |_| async {
        tokio::task::yield_now().await;
        hold(LONG);
        Ok("held".into())
    });
    let both = doing("both_polls", ToolPolicy::read_only(), |_| async {
        hold(LONG);
        tokio::task::yield_now().await;
        hold(LONG);
        Ok("held".into())
    });
    let own_thread = plain("plain_fn", ToolPolicy::read_only(), |_| {
        hold(LONG);
        "held".into()
    });
    let mut stage = Stage::new(model.text("done")).tool(first).tool(later).tool(both).tool(own_thread);
    let run = stage.run().await.unwrap();
    assert_eq!(texts(&run.messages), ["held"; 4]);
    assert_eq!(names.map(|name| reports(&stage, name)), [1, 1, 2, 0]);
}

/// How often the body of a tool ran that fails with `error`, and the answer.
async fn attempts(policy: ToolPolicy, error: fn() -> ToolError) -> (u32, String) {
    let count = Count::default();
    let counted = count.clone();
    let tool = doing("act", policy, move |_| {
        counted.add();
        async move { Err(error()) }
    });
    let mut stage = Stage::new(ScriptedModel::new().call("act", json!({})).text("done")).tool(tool);
    let run = stage.run().await.unwrap();
    (count.get(), run.messages[2].text())
}

#[tokio::test(start_paused = true)]
async fn g96_a_tool_that_fails_runs_once_unless_its_policy_allows_more() {
    let allows = |idempotent, max_retries| {
        let runtime = ToolRuntimePolicy { idempotent, max_retries, ..Default::default() };
        ToolPolicy::classified().with_runtime(runtime)
    };
    let failed: fn() -> ToolError = || ToolError::failed("bad form");
    let passing: fn() -> ToolError = || ToolError::transient("busy");
    let panics: fn() -> ToolError = || panic!("oh no");
    let retry: fn() -> ToolError = || ToolError::retry_with("write it otherwise");
    for (policy, error, expected) in [
        (allows(false, 0), failed, 1),
        (allows(false, 0), passing, 1),
        // A second attempt could do the thing twice: the error alone is no permission.
        (allows(false, 3), passing, 1),
        (allows(true, 3), failed, 1),
        (allows(true, 3), retry, 1),
        (allows(true, 3), panics, 1),
        (allows(true, 0), passing, 1),
        (allows(true, 3), passing, 4),
    ] {
        let words = format!("{:?} with {:?}", policy.runtime, error as *const ());
        let (count, text) = attempts(policy, error).await;
        assert_eq!(count, expected, "{words}: {text}");
        assert_eq!(text.contains("after 4 attempts"), expected == 4, "{text}");
    }
}
