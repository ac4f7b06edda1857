//! What a run may use, and what happens when it has.
//!
//! Guarantee: every attempt counts, whatever becomes of it; a limit ends a run as its behaviour says, with a whole
//! transcript; what nested runs use counts for the runs around them.

mod repeats;
mod skipped;

use std::future::pending;
use std::time::Duration;

use serde_json::json;
use tinyagents::TinyAgentsError;
use tinyagents::harness::context::{LimitBehavior, LimitKind, RunConfig, RunContext, RunLimits, RunPolicy};
use tinyagents::harness::event::{AgentEvent, Effects, FailureKind};
use tinyagents::harness::message::{Message, ToolCall};
use tinyagents::harness::middleware::ToolAllowlist;
use tinyagents::harness::policy::{ToolPolicy, ToolRuntimePolicy};
use tinyagents::harness::runtime::{AgentRun, RunFinish, SubAgent};
use tinyagents::harness::tool::ToolError;
use tinyagents::testkit::ScriptedModel;
use tokio::time::{Instant, sleep};

use crate::fixture::{Count, Stage, assert_whole, counted, doing, ends, texts};

const SECOND: Duration = Duration::from_secs(1);

fn look(id: &str, q: &str) -> ToolCall {
    ToolCall::new(id, "look", json!({ "q": q }))
}

fn limited(limits: RunLimits) -> RunPolicy {
    RunPolicy { limits, ..RunPolicy::recovering() }
}

fn stop(limits: RunLimits) -> RunPolicy {
    limited(RunLimits { behavior: LimitBehavior::StopWithPartial, ..limits })
}

fn failures(stage: &Stage) -> Vec<(String, FailureKind)> {
    stage.events.find(|event| match event {
        AgentEvent::ToolFailed { call_id, failure, .. } => Some((call_id.to_string(), *failure)),
        _ => None,
    })
}

/// A run that meets a limit: how it is made, how many messages it leaves.
fn meets(limit: LimitKind) -> (ScriptedModel, RunLimits, RunConfig, usize) {
    let (mut limits, mut config) = (RunLimits::default(), RunConfig::default());
    let looking =
        (0..9).fold(ScriptedModel::new(), |model, n| model.call("look", json!({ "q": n.to_string() })));
    let (model, messages) = match limit {
        LimitKind::ModelCalls => {
            limits.max_model_calls = 2;
            (looking, 1 + 2 * 2)
        }
        LimitKind::ToolCalls => {
            limits.max_tool_calls = 2;
            (looking, 1 + 3 * 2)
        }
        LimitKind::Duration => {
            limits.max_duration = 5 * SECOND;
            (ScriptedModel::new().calls([look("a", "tea"), ToolCall::new("b", "hangs", json!({}))]), 1 + 3)
        }
        LimitKind::Depth => {
            config.depth = 4;
            (looking, 1)
        }
        _ => {
            limits.max_repeats = 2;
            let same = |model: ScriptedModel, _| model.calls([look("", "tea"), look("", "other")]);
            ((0..9).fold(ScriptedModel::new(), same), 1 + 2 * 3)
        }
    };
    (model, limits, config, messages)
}

#[tokio::test(start_paused = true)]
async fn each_limit_ends_a_run_as_its_behaviour_says_with_all_there_is() {
    let all = [
        LimitKind::ModelCalls,
        LimitKind::ToolCalls,
        LimitKind::Duration,
        LimitKind::Depth,
        LimitKind::Repeats,
    ];
    for limit in all {
        for behavior in [LimitBehavior::Error, LimitBehavior::StopWithPartial] {
            let (model, limits, config, messages) = meets(limit);
            let stage = Stage::new(model).policy(limited(RunLimits { behavior, ..limits })).tool(doing(
                "hangs",
                ToolPolicy::classified(),
                |_| pending(),
            ));
            let ctx = RunContext::new(config, ());
            let handle = ctx.handle();
            let run = stage.harness.invoke_in_context(&(), ctx, vec![Message::user("go")]);
            let run = ends(run).await;
            stage.events.assert_settled();
            assert_whole(&handle.transcript());
            assert_eq!(handle.transcript().len(), messages, "{limit}, {behavior:?}");
            match (behavior, run) {
                (LimitBehavior::Error, Err(TinyAgentsError::LimitReached(met))) => assert_eq!(met, limit),
                (LimitBehavior::StopWithPartial, Ok(AgentRun { finish, messages, .. })) => {
                    assert_eq!(finish, RunFinish::LimitReached(limit));
                    assert_eq!(messages, *handle.transcript());
                }
                (_, run) => panic!("{limit}, {behavior:?}: {run:?}"),
            }
            assert!(handle.queue("more").is_err(), "the run is over");
        }
    }
}

#[tokio::test]
async fn h73_a_limit_counts_every_call_whatever_becomes_of_it() {
    let calls = [
        ToolCall::new("unknown", "missing", json!({})),
        ToolCall::new("invalid", "look", json!({})),
        ToolCall::from_text("malformed", "look", "{"),
        ToolCall::new("refused", "secret", json!({})),
        ToolCall::new("failing", "fails", json!({})),
        ToolCall::new("panicking", "panics", json!({})),
        look("good", "tea"),
        look("one too many", "coffee"),
    ];
    let limits = RunLimits { max_tool_calls: 7, ..RunLimits::default() };
    // One call a turn, and all of them in one.
    let one_by_one = calls.iter().fold(ScriptedModel::new(), |model, call| model.calls([call.clone()]));
    for model in [one_by_one, ScriptedModel::new().calls(calls)] {
        let secret = Count::default();
        let mut stage = Stage::new(model)
            .policy(limited(limits.clone()))
            .tool(doing("fails", ToolPolicy::read_only(), |_| async { Err(ToolError::failed("no")) }))
            .tool(doing("panics", ToolPolicy::read_only(), |_| async { panic!("oh no") }))
            .tool(counted("secret", ToolPolicy::read_only(), &secret));
        stage.harness.with_middleware(ToolAllowlist::new(["look", "fails", "panics"]));
        let error = ends(stage.fails()).await;
        assert!(matches!(error, TinyAgentsError::LimitReached(LimitKind::ToolCalls)), "{error}");
        assert_eq!((stage.looked.get(), secret.get()), (1, 0));
        let over = texts(&stage.transcript()).pop().unwrap();
        assert_eq!(over, "error: not executed: the run reached its limit `max_tool_calls`");
        let reached: Vec<_> =
            failures(&stage).into_iter().filter(|(_, kind)| *kind == FailureKind::LimitReached).collect();
        assert_eq!(reached, [("one too many".to_string(), FailureKind::LimitReached)]);
    }
}

#[tokio::test]
async fn of_a_turn_those_calls_run_that_the_budget_has_left() {
    let limits = RunLimits { max_tool_calls: 3, ..RunLimits::default() };
    let changes = Count::default();
    let change = |id: &str| ToolCall::new(id, "change", json!({ "id": id }));
    // An echo is no call.
    let calls = [look("a", "1"), look("a", "1"), change("b"), look("c", "3"), change("d"), look("e", "5")];
    let mut stage = Stage::new(ScriptedModel::new().calls(calls)).policy(stop(limits)).tool(counted(
        "change",
        ToolPolicy::classified(),
        &changes,
    ));
    let run = ends(stage.run()).await.unwrap();
    assert_eq!(run.finish, RunFinish::LimitReached(LimitKind::ToolCalls));
    assert_eq!((stage.looked.get(), changes.get()), (2, 1));
    let over = "error: not executed: the run reached its limit `max_tool_calls`";
    let texts = texts(&run.messages);
    assert_eq!(
        [&texts[0], &texts[2], &texts[3], &texts[4], &texts[5]],
        ["found 1", "change did", "found 3", over, over]
    );
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_runs_time_stops_what_runs_and_answers_what_waits() {
    let changes = Count::default();
    let calls = [
        look("a", "tea"),
        ToolCall::new("b", "hangs", json!({})),
        ToolCall::new("c", "change", json!({})),
        look("d", "milk"),
    ];
    let policy = RunPolicy {
        grace: 2 * SECOND,
        ..stop(RunLimits { max_duration: 5 * SECOND, ..RunLimits::default() })
    };
    let mut stage = Stage::new(ScriptedModel::new().calls(calls))
        .policy(policy)
        .tool(doing("hangs", ToolPolicy::read_only(), |_| pending()))
        .tool(counted("change", ToolPolicy::classified(), &changes));
    let start = Instant::now();
    let run = ends(stage.run()).await.unwrap();
    assert_eq!((run.finish, start.elapsed()), (RunFinish::LimitReached(LimitKind::Duration), 7 * SECOND));
    let over = "error: not executed: the run reached its limit `max_duration`";
    let texts = texts(&run.messages);
    assert_eq!([&texts[0], &texts[2], &texts[3]], ["found tea", over, over]);
    assert!(texts[1].contains("the run's time was over while the tool ran; it was stopped"), "{}", texts[1]);
    assert_eq!(changes.get(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_time_of_one_call_ends_that_call() {
    let quick = ToolPolicy::classified()
        .with_runtime(ToolRuntimePolicy { timeout_ms: Some(1_000), ..Default::default() });
    let calls =
        [ToolCall::new("a", "slow", json!({})), look("b", "tea"), ToolCall::new("c", "slow", json!({}))];
    let mut stage = Stage::new(ScriptedModel::new().calls(calls).text("done")).tool(doing(
        "slow",
        quick,
        |call| async move {
            call.cancellation.cancelled().await;
            Ok(String::new())
        },
    ));
    let start = Instant::now();
    let run = ends(stage.run()).await.unwrap();
    // Each from its own start: waiting in line does not count.
    assert_eq!((start.elapsed(), run.answer().as_deref()), (2 * SECOND, Some("done")));
    let ended = stage.events.find(|event| match event {
        AgentEvent::ToolFailed { failure, effects, .. } => Some((*failure, *effects)),
        _ => None,
    });
    assert_eq!(ended, [(FailureKind::TimedOut, Effects::Done); 2]);
    assert_eq!(stage.looked.get(), 1);
}

#[tokio::test]
async fn a_run_at_the_deepest_level_starts_no_other() {
    let task = json!({ "task": "go" });
    let agent = |name: &str| SubAgent::new(name, "Goes on.").with_model(name).into_tool();
    let limits = RunLimits { max_depth: 1, ..RunLimits::default() };
    let mut stage = Stage::new(ScriptedModel::new().call("outer", task.clone()).text("done"))
        .policy(limited(limits))
        .tool(agent("outer"))
        .tool(agent("inner"));
    let outer = ScriptedModel::new().call("inner", task).respond(|request| {
        let result = request.messages.iter().find_map(Message::as_tool).unwrap();
        Ok(tinyagents::harness::message::AssistantMessage::text(result.text()).into())
    });
    let inner = ScriptedModel::new();
    stage.harness.register_model("outer", outer).unwrap().register_model("inner", inner.clone()).unwrap();
    let run = ends(stage.run()).await.unwrap();
    assert_eq!(
        texts(&run.messages),
        ["error: not executed: it starts a run, and runs may be nested only 1 deep"]
    );
    assert_eq!((run.answer().as_deref(), inner.requests().len()), (Some("done"), 0));
}

#[tokio::test]
async fn a_nested_run_draws_on_the_budgets_of_all_runs_around_it() {
    let task = json!({ "task": "go" });
    let small = RunLimits { max_tool_calls: 2, ..RunLimits::default() };
    // The agent has its own limit of 2, and the run has 4: the call of the agent is the first of them.
    let mut stage =
        Stage::new(ScriptedModel::new().call("agent", task).calls([look("", "mine"), look("", "over")]))
            .policy(stop(RunLimits { max_tool_calls: 4, ..RunLimits::default() }))
            .tool(SubAgent::new("agent", "Looks.").with_model("small").with_limits(small).into_tool());
    let looks = ScriptedModel::new().calls([look("", "1"), look("", "2"), look("", "3")]);
    stage.harness.register_model("small", looks).unwrap();
    let run = ends(stage.run()).await.unwrap();
    let texts = texts(&run.messages);
    // The limit of the nested run ends only that one.
    assert!(texts[0].contains("the run reached its limit `max_tool_calls`"), "{texts:?}");
    assert_eq!((texts[1].as_str(), stage.looked.get()), ("found mine", 3));
    assert_eq!(run.finish, RunFinish::LimitReached(LimitKind::ToolCalls));
}

#[tokio::test(start_paused = true)]
async fn a_nested_run_ends_in_time_for_the_run_around_it_to_answer() {
    let mut stage = Stage::new(ScriptedModel::new().call("agent", json!({ "task": "go" })).text("too long"))
        .policy(RunPolicy {
            grace: SECOND,
            ..stop(RunLimits { max_duration: 5 * SECOND, ..RunLimits::default() })
        })
        .tool(SubAgent::new("agent", "Waits.").with_model("small").into_tool())
        .tool(doing("nap", ToolPolicy::classified(), |call| async move {
            tokio::select! {
                () = call.cancellation.cancelled() => {}
                () = sleep(60 * SECOND) => {}
            }
            Ok("woken".into())
        }));
    stage.harness.register_model("small", ScriptedModel::new().call("nap", json!({}))).unwrap();
    let start = Instant::now();
    let run = ends(stage.run()).await.unwrap();
    assert_eq!(run.answer().as_deref(), Some("too long"));
    assert!(4 * SECOND < start.elapsed() && start.elapsed() < 5 * SECOND, "{:?}", start.elapsed());
    assert!(
        texts(&run.messages)[0].contains("the agent `agent` did not finish"),
        "{:?}",
        texts(&run.messages)
    );
}
