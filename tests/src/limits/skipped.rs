//! Changes after one that failed, in the same turn.

use std::future::pending;

use serde_json::json;
use tinyagents::harness::context::{FailurePolicy, RunContext, RunPolicy};
use tinyagents::harness::event::{AgentEvent, FailureKind};
use tinyagents::harness::executor::ExecutorBounds;
use tinyagents::harness::message::ToolCall;
use tinyagents::harness::middleware::{Middleware, ToolGate};
use tinyagents::harness::policy::{ToolAccess, ToolPolicy, ToolRuntimePolicy};
use tinyagents::harness::tool::{DynTool, ToolError};
use tinyagents::testkit::{ScriptedApprover, ScriptedModel};

use crate::fixture::{Count, Stage, counted, doing, ends, texts};

/// Refuses, or renames, what asks for it.
struct Hook;

#[tinyagents::async_trait]
impl Middleware<()> for Hook {
    async fn before_tool(&self, _: &RunContext, _: &(), call: &mut ToolCall) -> tinyagents::Result<ToolGate> {
        match call.name.as_str() {
            "refused" => return Ok(ToolGate::reject("no")),
            "renamed" => call.name = "strict".into(),
            _ => {}
        }
        Ok(ToolGate::Proceed)
    }
}

/// A stage with changes that go wrong in every way, and `change`, which counts.
fn stage(failure: FailurePolicy, calls: impl IntoIterator<Item = ToolCall>) -> (Stage, Count) {
    let changed = Count::default();
    let change = ToolPolicy::classified;
    let quick =
        ToolRuntimePolicy { timeout_ms: Some(10), max_retries: 1, idempotent: true, ..Default::default() };
    let asks = ToolAccess { approval_required: true, ..Default::default() };
    let strict = json!({ "type": "object", "required": ["path"] });
    let tries = Count::default();
    let mut stage =
        Stage::new(ScriptedModel::new().calls(calls).call("change", json!({ "next": "turn" })).text("done"))
            .policy(RunPolicy { failure, ..RunPolicy::recovering() })
            .tool(counted("change", change(), &changed))
            .tool(doing("fails", change(), |_| async { Err(ToolError::failed("no")) }))
            .tool(doing("panics", change(), |_| async { panic!("oh no") }))
            .tool(doing("hangs", change().with_runtime(quick.clone()), |_| pending()))
            .tool(doing("refused", change(), |_| async { Ok("never".into()) }))
            .tool(doing("gated", change().with_access(asks), |_| async { Ok("never".into()) }))
            .tool(DynTool::new("strict", strict, change(), |_, _| async {
                Ok::<_, ToolError>("never".to_string())
            }))
            .tool(doing("flaky", change().with_runtime(quick), move |_| {
                tries.add();
                let first = tries.get() == 1;
                async move { if first { Err(ToolError::transient("busy")) } else { Ok("at last".into()) } }
            }))
            .tool(doing("read_fails", ToolPolicy::read_only(), |_| async { Err(ToolError::failed("no")) }));
    stage.harness.with_middleware(Hook).with_approver(ScriptedApprover::new().deny("no"));
    (stage, changed)
}

fn call(id: &str, name: &str) -> ToolCall {
    let arguments = if name == "look" { json!({ "q": "tea" }) } else { json!({}) };
    ToolCall::new(id, name, arguments)
}

const SKIPPED: &str = "error: not executed: an earlier change of this turn, `cause`, failed";

#[tokio::test(start_paused = true)]
async fn after_a_change_that_failed_later_changes_are_skipped_and_reads_run() {
    for cause in ["fails", "panics", "hangs", "refused", "gated", "strict", "renamed"] {
        for failure in [FailurePolicy::SkipLaterMutations, FailurePolicy::Continue] {
            let calls = [
                call("0", "change"),
                call("cause", cause),
                call("2", "look"),
                call("3", "change"),
                call("4", "change"),
            ];
            let (mut stage, changed) = stage(failure, calls);
            let run = ends(stage.run()).await.unwrap();
            let skips = failure == FailurePolicy::SkipLaterMutations;
            let texts = texts(&run.messages);
            assert!(texts[1].starts_with("error: "), "{cause}: {}", texts[1]);
            assert_eq!((texts[0].as_str(), texts[2].as_str()), ("change did", "found tea"), "{cause}");
            // The last of the turn is skipped because of the cause, not because of the one before it.
            let later = if skips { SKIPPED } else { "change did" };
            assert_eq!([&texts[3], &texts[4]], [later, later], "{cause}");
            assert_eq!(texts[5], "change did", "the next turn begins anew");
            assert_eq!(changed.get(), if skips { 2 } else { 4 }, "{cause}");
            let skipped = stage.events.find(|event| match event {
                AgentEvent::ToolFailed { call_id, failure: FailureKind::Skipped, .. } => {
                    Some(call_id.to_string())
                }
                _ => None,
            });
            assert_eq!(skipped, if skips { vec!["3", "4"] } else { vec![] }, "{cause}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_skipped_for_a_read_an_unknown_name_or_an_attempt_that_failed() {
    let calls = [
        call("a", "read_fails"),
        ToolCall::new("b", "look", json!({})),
        call("c", "missing"),
        call("d", "flaky"),
        call("e", "change"),
        call("e", "change"), // an echo
        call("f", "change"),
    ];
    let (mut stage, changed) = stage(FailurePolicy::SkipLaterMutations, calls);
    ends(stage.run()).await.unwrap();
    assert_eq!(changed.get(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_change_before_the_one_that_failed_is_made() {
    // The refusal is known before anything runs.
    let calls = [call("a", "change"), call("b", "look"), call("cause", "refused"), call("d", "change")];
    let (mut stage, changed) = stage(FailurePolicy::SkipLaterMutations, calls);
    let run = ends(stage.run()).await.unwrap();
    assert_eq!((texts(&run.messages)[0].as_str(), texts(&run.messages)[3].as_str()), ("change did", SKIPPED));
    assert_eq!(changed.get(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_change_that_waits_in_line_is_skipped_and_one_that_has_started_is_not() {
    for (width, changes) in [(1, 1), (3, 3)] {
        let calls = [call("cause", "slow"), call("b", "change"), call("c", "change")];
        let (stage, changed) = stage(FailurePolicy::SkipLaterMutations, calls);
        let mut stage = stage.tool(doing("slow", ToolPolicy::classified(), |_| async {
            tokio::time::sleep(std::time::Duration::from_secs(1)).await;
            Err(ToolError::failed("no"))
        }));
        stage.harness.promote("slow").unwrap().promote("change").unwrap();
        let bounds = ExecutorBounds { max_concurrent_mutations: width, ..Default::default() };
        stage.harness.with_bounds(bounds).unwrap();
        ends(stage.run()).await.unwrap();
        assert_eq!(changed.get(), changes, "{width} side by side, and one in the next turn");
    }
}
