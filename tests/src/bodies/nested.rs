//! Runs within a body: each scope ends by its own deadline, or because what is around it ends, and then in order.

use std::time::Duration;

use serde_json::json;
use tinyagents::harness::event::{AgentEvent, Effects, FailureKind};
use tinyagents::harness::executor::ExecutorBounds;
use tinyagents::prelude::*;
use tinyagents::testkit::ScriptedModel;
use tokio::time::Instant;

use super::threads::{Threads, run_with, runtime, turn, write};
use super::{failures, policy, texts};
use crate::fixture::{Count, Stage, doing};

/// Have an agent work, for ten seconds at most.
#[tool(recursive, timeout = "10s")]
async fn delegate(#[inject] runs: ChildRuns) -> Result<String, ToolError> {
    let agent = SubAgent::new("agent", "Works.").with_model("inner");
    let run = runs.run(&agent, vec![Message::user("work")]).await?;
    Ok(run.answer().unwrap_or_else(|| run.finish.to_string()))
}

/// What happened to a body: when it was told to end, and when it was gone.
#[derive(Clone, Default)]
struct Fate(std::sync::Arc<std::sync::Mutex<Vec<(&'static str, Duration)>>>);

impl Fate {
    fn note(&self, what: &'static str, start: Instant) {
        self.0.lock().unwrap().push((what, start.elapsed()));
    }

    fn told(&self) -> Vec<(&'static str, Duration)> {
        self.0.lock().unwrap().clone()
    }
}

struct Gone(Fate, Instant);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.note("gone", self.1);
    }
}

/// A tool that notes when it is told to end, and does so only if it is `kind`.
fn leaf(fate: &Fate, timeout_ms: u64, kind: bool) -> impl Tool<()> + use<> {
    let fate = fate.clone();
    let start = Instant::now();
    doing("leaf", policy(false, timeout_ms), move |call| {
        let fate = fate.clone();
        async move {
            let _gone = Gone(fate.clone(), start);
            call.cancellation.cancelled().await;
            fate.note("told", start);
            if !kind {
                std::future::pending::<()>().await;
            }
            Ok("ended when told".into())
        }
    })
}

/// When the settled calls and the closed turns and runs of a stage happened, in order.
fn order(stage: &Stage) -> Vec<String> {
    let records = stage.events.records();
    let of_note = records.iter().filter_map(|record| {
        let depth = record.parent_run_id.is_some() as u32;
        match &record.event {
            AgentEvent::ToolFailed { tool_name, .. } => Some(format!("{tool_name} failed")),
            AgentEvent::ToolCompleted { tool_name, .. } => Some(format!("{tool_name} completed")),
            AgentEvent::RunCompleted { .. } | AgentEvent::RunFailed { .. } => {
                Some(if depth == 0 { "run over".into() } else { "nested run over".into() })
            }
            AgentEvent::TurnClosed { .. } => {
                Some(if depth == 0 { "turn closed".into() } else { "nested turn closed".into() })
            }
            _ => None,
        }
    });
    of_note.collect()
}

#[tokio::test(start_paused = true)]
async fn g67_a_nested_tool_ends_by_its_own_timeout_and_what_is_around_it_goes_on() {
    let fate = Fate::default();
    let mut stage = Stage::new(ScriptedModel::new().call("delegate", json!({})).text("done"))
        .tool(Delegate)
        .tool(leaf(&fate, 3_000, false));
    let inner = ScriptedModel::new().call("leaf", json!({})).text("without the leaf");
    stage.harness.register_model("inner", inner).unwrap();
    let run = stage.run().await.unwrap();
    assert_eq!(texts(&run.messages), ["without the leaf"]);
    assert_eq!(failures(&stage), [(FailureKind::TimedOut, Effects::Unknown)]);
    assert_eq!(fate.told(), [("told", Duration::from_secs(3)), ("gone", Duration::from_secs(8))]);
}

#[tokio::test(start_paused = true)]
async fn g67_an_outer_timeout_reaches_what_is_within_and_waits_until_it_is_gone() {
    let fate = Fate::default();
    let mut stage = Stage::new(ScriptedModel::new().call("delegate", json!({})).text("done"))
        .tool(Delegate)
        .tool(leaf(&fate, 0, false));
    stage.harness.register_model("inner", ScriptedModel::new().call("leaf", json!({}))).unwrap();
    let run = stage.run().await.unwrap();
    let told = ("told", Duration::from_millis(9_900));
    assert_eq!(fate.told(), [told, ("gone", Duration::from_millis(14_900))]);
    assert_eq!(
        order(&stage),
        [
            "leaf failed",
            "nested turn closed",
            "nested run over",
            "delegate failed",
            "turn closed",
            "run over"
        ]
    );
    assert_eq!(
        failures(&stage),
        [(FailureKind::TimedOut, Effects::Unknown), (FailureKind::TimedOut, Effects::Done)]
    );
    assert!(texts(&run.messages)[0].contains("the tool timed out after 10s; it ended by itself"));
}

#[tokio::test(start_paused = true)]
async fn a_nested_run_is_over_before_the_time_of_the_call_around_it() {
    let (fate, start) = (Fate::default(), Instant::now());
    let mut stage = Stage::new(ScriptedModel::new().call("delegate", json!({})).text("done"))
        .tool(Delegate)
        .tool(leaf(&fate, 0, true));
    stage.harness.register_model("inner", ScriptedModel::new().call("leaf", json!({}))).unwrap();
    let run = stage.run().await.unwrap();
    // The outer call could still say what became of its run.
    assert!(texts(&run.messages)[0].contains("reached its limit `max_duration`"), "{:?}", run.messages);
    assert_eq!(
        failures(&stage),
        [(FailureKind::TimedOut, Effects::Done), (FailureKind::Error, Effects::Done)]
    );
    assert_eq!(start.elapsed(), Duration::from_millis(9_900));
}

#[tokio::test(start_paused = true)]
async fn a_cancel_closes_the_runs_of_a_tree_from_within() {
    let (fate, start) = (Fate::default(), Instant::now());
    let agent = |name: &str, model: &str| SubAgent::new(name, "Works.").with_model(model).into_tool();
    let stage = Stage::new(ScriptedModel::new().call("outer", json!({ "task": "work" })))
        .tool(agent("outer", "middle"))
        .tool(agent("inner", "innermost"))
        .tool(leaf(&fate, 0, false));
    let mut stage = stage;
    let middle = ScriptedModel::new().call("inner", json!({ "task": "work" }));
    stage.harness.register_model("middle", middle).unwrap();
    stage.harness.register_model("innermost", ScriptedModel::new().call("leaf", json!({}))).unwrap();
    let ctx = RunContext::new(RunConfig::default(), ());
    let handle = ctx.handle();
    let cancel = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        handle.cancel();
    };
    let run = stage.harness.invoke_in_context(&(), ctx, vec![Message::user("go")]);
    let (run, ()) = tokio::join!(run, cancel);
    assert_eq!(run.unwrap().finish, RunFinish::Cancelled);
    stage.events.assert_settled();
    assert_eq!(fate.told(), [("told", Duration::from_secs(1)), ("gone", Duration::from_secs(6))]);
    assert_eq!(start.elapsed(), Duration::from_secs(6));
    let nested = ["nested turn closed", "nested run over"];
    let expected = [&["leaf failed"], &nested[..], &["inner failed"], &nested[..], &["outer failed"]];
    assert_eq!(order(&stage)[..7], expected.concat());
    // Only the leaf was stopped: each run around it had the time to close its own transcript.
    let stopped = FailureKind::Cancelled;
    assert_eq!(
        failures(&stage),
        [(stopped, Effects::Unknown), (stopped, Effects::Done), (stopped, Effects::Done)]
    );
}

/// Have an agent work, and give up on it after a second.
#[tool(recursive)]
async fn hasty(#[inject] runs: ChildRuns) -> Result<String, ToolError> {
    let agent = SubAgent::new("agent", "Works.").with_model("inner");
    let run = runs.run(&agent, vec![Message::user("work")]);
    match tokio::time::timeout(Duration::from_secs(1), run).await {
        Ok(run) => Ok(format!("{run:?}")),
        Err(_) => Ok("took too long".into()),
    }
}

#[test]
fn nobody_waits_for_a_thread_whose_nested_run_was_dropped() {
    for (reads, bounds, kind) in [
        (false, ExecutorBounds::default(), FailureKind::WriterBusy),
        (true, ExecutorBounds { max_bodies: 1, ..Default::default() }, FailureKind::NoCapacity),
    ] {
        runtime(8).block_on(async {
            let (mut threads, wrote) = (Threads::new(), Count::default());
            let model = ScriptedModel::new().call("hasty", json!({})).call("write", json!({})).text("done");
            let mut stage = Stage::new(model)
                .tool(Hasty)
                .tool(threads.tool("stuck", policy(reads, 0)))
                .tool(write(&wrote));
            stage.harness.with_bounds(bounds).unwrap();
            stage.harness.register_model("inner", ScriptedModel::new().call("stuck", json!({}))).unwrap();
            let run = run_with(&mut stage, async {
                let token = threads.next().await;
                turn(1_000).await;
                assert!(token.is_cancelled(), "the thread was told");
            })
            .await;
            assert_eq!(texts(&run.messages)[0], "took too long");
            let interrupted = (FailureKind::Cancelled, Effects::Unknown);
            assert_eq!(failures(&stage), [interrupted, (kind, Effects::None)]);
            assert_eq!(wrote.get(), 0);
        });
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_whose_nested_run_was_dropped_gives_its_permits_back() {
    let (fate, wrote) = (Fate::default(), Count::default());
    let model = ScriptedModel::new().call("hasty", json!({})).call("write", json!({})).text("done");
    let mut stage = Stage::new(model).tool(Hasty).tool(leaf(&fate, 0, false)).tool(write(&wrote));
    stage.harness.register_model("inner", ScriptedModel::new().call("leaf", json!({}))).unwrap();
    let run = stage.run().await.unwrap();
    assert_eq!(texts(&run.messages), ["took too long", "written"]);
    assert_eq!(wrote.get(), 1);
    let gone: Vec<_> = fate.told().into_iter().filter(|(what, _)| *what == "gone").collect();
    assert_eq!(gone, [("gone", Duration::from_secs(1))]);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_cancels_its_own_token_ends_its_nested_run_and_nothing_else() {
    /// Start an agent that is not to run.
    #[tool(recursive)]
    async fn timid(
        #[inject] runs: ChildRuns,
        #[inject] cancel: CancellationToken,
    ) -> Result<String, ToolError> {
        cancel.cancel();
        let agent = SubAgent::new("agent", "Works.").with_model("inner");
        Ok(runs.run(&agent, vec![Message::user("work")]).await?.finish.to_string())
    }
    let model =
        ScriptedModel::new().call("timid", json!({})).call("look", json!({ "q": "tea" })).text("done");
    let mut stage = Stage::new(model).tool(Timid);
    stage.harness.register_model("inner", ScriptedModel::new()).unwrap();
    let run = stage.run().await.unwrap();
    assert_eq!(texts(&run.messages), ["cancelled", "found tea"]);
    assert_eq!(run.answer().as_deref(), Some("done"));
}
