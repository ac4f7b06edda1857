//! While a call waits for its next attempt.

use std::time::Duration;

use serde_json::json;
use tinyagents::harness::context::RunContext;
use tinyagents::harness::event::AgentEvent;
use tinyagents::harness::executor::ExecutorBounds;
use tinyagents::harness::message::{Message, ToolCall};
use tinyagents::harness::policy::ToolPolicy;
use tinyagents::harness::runtime::{RunFinish, SubAgent};
use tinyagents::harness::tool::{Tool, ToolError};
use tinyagents::testkit::ScriptedModel;
use tokio::time::{Instant, sleep};

use super::{Starts, attempts, flaky, policies, reads};
use crate::fixture::{Count, Stage, assert_whole, counted, doing, ends, texts};

const LONG: Duration = Duration::from_secs(10);

fn both(second: &str) -> ScriptedModel {
    let calls = [ToolCall::new("a", "flaky", json!({})), ToolCall::new("b", second, json!({}))];
    ScriptedModel::new().calls(calls).text("done")
}

/// Reads for a long time.
fn long(starts: &Starts) -> impl Tool<()> + use<> {
    let starts = starts.clone();
    doing("long", ToolPolicy::read_only(), move |_| {
        starts.0.lock().unwrap().push(Instant::now());
        async {
            sleep(LONG).await;
            Ok("read".into())
        }
    })
}

#[tokio::test(start_paused = true)]
async fn another_call_runs_and_the_bounds_hold_when_the_first_comes_back() {
    let one_body = ExecutorBounds { max_bodies: 1, ..Default::default() };
    let serial = ExecutorBounds { max_parallel: 1, ..Default::default() };
    for (bounds, waits) in [(one_body, true), (serial, true), (ExecutorBounds::default(), false)] {
        let (tries, longs) = (Starts::default(), Starts::default());
        let mut stage = Stage::new(both("long")).tool(flaky("flaky", reads(3), 1, &tries)).tool(long(&longs));
        stage.harness.with_bounds(bounds).unwrap();
        let start = Instant::now();
        let run = ends(stage.run()).await.unwrap();
        assert_eq!(texts(&run.messages), ["at last", "read"]);
        let long_began = longs.0.lock().unwrap()[0] - start;
        assert_eq!(long_began, Duration::ZERO, "the other starts while the first waits");
        let gap = tries.gaps()[0];
        assert_eq!(gap >= LONG, waits, "the second attempt waits for room: {gap:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_failure_the_second_waits_for_the_first() {
    // The baseline of the test above: in series, the other starts only when the first has ended.
    let (first, longs) = (Starts::default(), Starts::default());
    let calls = [ToolCall::new("a", "long", json!({})), ToolCall::new("b", "flaky", json!({}))];
    let mut stage = Stage::new(ScriptedModel::new().calls(calls).text("done"))
        .tool(flaky("flaky", reads(0), 0, &first))
        .tool(long(&longs));
    stage.harness.with_bounds(ExecutorBounds { max_parallel: 1, ..Default::default() }).unwrap();
    ends(stage.run()).await.unwrap();
    assert!(first.0.lock().unwrap()[0] - longs.0.lock().unwrap()[0] >= LONG);
}

#[tokio::test(start_paused = true)]
async fn a_later_segment_does_not_open() {
    let (tries, noted) = (Starts::default(), Count::default());
    let mut stage = Stage::new(both("note")).tool(flaky("flaky", reads(3), 2, &tries)).tool(counted(
        "note",
        ToolPolicy::classified(),
        &noted,
    ));
    ends(stage.run()).await.unwrap();
    let order = stage.events.find(|event| match event {
        AgentEvent::ToolRetrying { .. } => Some("again"),
        AgentEvent::SegmentOpened { .. } => Some("segment"),
        AgentEvent::ToolCompleted { tool_name, .. } if tool_name == "flaky" => Some("done"),
        AgentEvent::ToolStarted { tool_name, .. } if tool_name == "note" => Some("note"),
        _ => None,
    });
    assert_eq!(order, ["segment", "again", "again", "done", "segment", "note"]);
}

#[tokio::test(start_paused = true)]
async fn the_writer_permit_is_free() {
    let (tries, noted) = (Starts::default(), Count::default());
    let [_, (_, idempotent), _] = policies(3);
    let agent = |name: &str| SubAgent::new(name, "Does something.").with_model(name).into_tool();
    let task = json!({ "task": "go" });
    let calls = [ToolCall::new("a", "first", task.clone()), ToolCall::new("b", "second", task)];
    let mut stage = Stage::new(ScriptedModel::new().calls(calls).text("done"))
        .tool(flaky("flaky", idempotent, 1, &tries))
        .tool(counted("note", ToolPolicy::classified(), &noted))
        .tool(agent("first"))
        .tool(agent("second"));
    stage.harness.register_model("first", ScriptedModel::new().call("flaky", json!({})).text("one")).unwrap();
    stage.harness.register_model("second", ScriptedModel::new().call("note", json!({})).text("two")).unwrap();
    stage.harness.with_bounds(ExecutorBounds { max_bodies: 1, ..Default::default() }).unwrap();
    let run = ends(stage.run()).await.unwrap();
    assert_eq!(texts(&run.messages), ["one", "two"]);
    let order = stage.events.find(|event| match event {
        AgentEvent::ToolRetrying { .. } => Some("again"),
        AgentEvent::ToolCompleted { tool_name, .. } if tool_name == "flaky" => Some("flaky"),
        AgentEvent::ToolCompleted { tool_name, .. } if tool_name == "note" => Some("note"),
        _ => None,
    });
    assert_eq!(order, ["again", "note", "flaky"]);
}

#[tokio::test(start_paused = true)]
async fn a_cancel_leaves_the_error_of_the_last_attempt() {
    let tries = Starts::default();
    let stage = Stage::new(both("look")).tool(flaky("flaky", reads(3), 9, &tries));
    let ctx = RunContext::default();
    let handle = ctx.handle();
    let start = Instant::now();
    let run = stage.harness.invoke_in_context(&(), ctx, vec![Message::user("go")]);
    let (run, ()) = ends(async {
        tokio::join!(run, async {
            sleep(Duration::from_millis(20)).await;
            handle.cancel();
        })
    })
    .await;
    let run = run.unwrap();
    stage.events.assert_settled();
    assert_whole(&run.messages);
    assert_eq!((run.finish, start.elapsed()), (RunFinish::Cancelled, Duration::from_millis(20)));
    assert_eq!((texts(&run.messages)[0].as_str(), tries.count()), ("error: busy", 1));
    assert_eq!(attempts(&stage), [0, 1], "`look` lacks an argument");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_ends_the_run_leaves_the_error_of_the_last_attempt() {
    let tries = Starts::default();
    let fatal = doing("fatal", ToolPolicy::read_only(), |_| async {
        sleep(Duration::from_millis(120)).await;
        Err(ToolError::fatal("lost"))
    });
    let mut stage = Stage::new(both("fatal")).tool(flaky("flaky", reads(9), 9, &tries)).tool(fatal);
    let start = Instant::now();
    let error = ends(stage.fails()).await;
    assert_eq!((error.to_string(), start.elapsed()), ("lost".into(), Duration::from_millis(120)));
    // The second attempt is made after 50 to 100 ms, and the third 100 to 200 ms later.
    assert_eq!(
        (texts(&stage.transcript()), tries.count()),
        (vec!["error: busy (after 2 attempts)".into(), "error: lost".into()], 2)
    );
}
