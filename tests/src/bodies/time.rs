//! A body's time: when it begins, what stops it, and what a stop leaves alone.

use std::pin::pin;
use std::time::Duration;

use serde_json::json;
use tinyagents::harness::context::RunPolicy;
use tinyagents::harness::event::{AgentEvent, Effects, FailureKind};
use tinyagents::harness::executor::ExecutorBounds;
use tinyagents::harness::policy::{Approval, ApprovalRequest, Approver, ToolPolicy};
use tinyagents::harness::tool::ToolError;
use tinyagents::prelude::*;
use tinyagents::testkit::ScriptedModel;
use tokio::time::{Instant, sleep};

use super::{calls, failures, policy, texts};
use crate::fixture::{Count, Stage, doing};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn a_body_that_listens_ends_its_call_before_its_grace_is_over() {
    let start = Instant::now();
    let tool = doing("act", policy(false, 2_000), |call| async move {
        call.cancellation.cancelled().await;
        sleep(SECOND).await; // it puts its things in order
        Ok("in order".into())
    });
    let mut stage = Stage::new(ScriptedModel::new().call("act", json!({})).text("done")).tool(tool);
    stage.run().await.unwrap();
    assert_eq!(start.elapsed(), 3 * SECOND);
    assert_eq!(failures(&stage), [(FailureKind::TimedOut, Effects::Done)]);
}

#[tokio::test(start_paused = true)]
async fn g95_a_body_that_ignores_its_token_is_answered_at_deadline_plus_grace_and_does_no_more() {
    let (start, steps) = (Instant::now(), Count::default());
    let counted = steps.clone();
    let tool = doing("act", policy(false, 2_000), move |_| {
        let counted = counted.clone();
        async move {
            loop {
                sleep(Duration::from_millis(100)).await;
                counted.add();
            }
        }
    });
    let policy = RunPolicy { grace: Duration::from_millis(350), ..RunPolicy::recovering() };
    let model = ScriptedModel::new().call("act", json!({})).call("look", json!({ "q": "tea" })).text("done");
    let mut stage = Stage::new(model).policy(policy).tool(tool);
    let run = stage.run().await.unwrap();
    assert_eq!(start.elapsed(), Duration::from_millis(2_350), "timeout and grace, and nothing on top");
    assert_eq!(
        texts(&run.messages)[0],
        "error: the tool timed out after 2s; it was stopped, and what it had done by then is unknown"
    );
    assert_eq!(failures(&stage), [(FailureKind::TimedOut, Effects::Unknown)]);
    sleep(10 * SECOND).await;
    assert_eq!(steps.get(), 23, "it does not go on behind its answer");
}

#[tokio::test(start_paused = true)]
async fn a_result_that_is_there_wins_over_a_cancel_in_the_same_moment() {
    for at_once in [true, false] {
        let ctx = RunContext::new(RunConfig::default(), ());
        let (handle, outside) = (ctx.handle(), ctx.handle());
        let tool = doing("act", ToolPolicy::classified(), move |_| {
            let handle = handle.clone();
            async move {
                if !at_once {
                    sleep(SECOND).await;
                }
                handle.cancel();
                Ok("made it".into())
            }
        });
        let model = ScriptedModel::new().calls(calls(["act", "look"]));
        let stage = Stage::new(model).tool(tool);
        let run = stage.harness.invoke_in_context(&(), ctx, vec![Message::user("go")]).await.unwrap();
        assert!(outside.is_cancelled());
        assert_eq!(run.finish, RunFinish::Cancelled);
        assert_eq!(texts(&run.messages)[0], "made it", "at once: {at_once}");
        assert_eq!(failures(&stage).len(), 1, "the later call");
    }
}

#[tokio::test(start_paused = true)]
async fn a_result_that_is_there_wins_over_a_timeout_in_the_same_moment() {
    let tool = doing("act", policy(false, 2_000), |_| async {
        sleep(SECOND).await;
        // The clock jumps past the deadline within the poll that ends the body.
        let mut jump = pin!(tokio::time::advance(5 * SECOND));
        std::future::poll_fn(|cx| {
            let _ = jump.as_mut().poll(cx);
            std::task::Poll::Ready(())
        })
        .await;
        Ok("made it".into())
    });
    let mut stage = Stage::new(ScriptedModel::new().call("act", json!({})).text("done")).tool(tool);
    let (start, run) = (Instant::now(), stage.run().await.unwrap());
    assert_eq!((start.elapsed(), texts(&run.messages)), (6 * SECOND, vec!["made it".to_string()]));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_times_out_leaves_its_siblings_alone() {
    let (told, start) = (Count::default(), Instant::now());
    let noted = told.clone();
    let slow = doing("slow", policy(true, 4_000), move |call| {
        let told = noted.clone();
        async move {
            sleep(3 * SECOND).await;
            if call.cancellation.is_cancelled() {
                told.add();
            }
            Ok("slow".into())
        }
    });
    let hangs = doing("hangs", policy(true, 1_000), |_| std::future::pending());
    let model = ScriptedModel::new().calls(calls(["slow", "hangs", "slow"])).text("done");
    let mut stage = Stage::new(model).tool(slow).tool(hangs);
    let run = stage.run().await.unwrap();
    let texts = texts(&run.messages);
    assert_eq!((texts[0].as_str(), texts[2].as_str(), told.get()), ("slow", "slow", 0));
    assert_eq!(failures(&stage), [(FailureKind::TimedOut, Effects::Unknown)]);
    assert_eq!(start.elapsed(), 6 * SECOND, "side by side: 1 s and 5 s of grace");
}

/// Takes a second and a half.
fn takes_a_while(policy: ToolPolicy) -> impl Tool<()> {
    doing("act", policy, |_| async {
        sleep(Duration::from_millis(1_500)).await;
        Ok("in time".into())
    })
}

#[tokio::test(start_paused = true)]
async fn a_timeout_does_not_run_while_the_call_waits_in_line() {
    let start = Instant::now();
    let model = ScriptedModel::new().calls(calls(["act", "act"])).text("done");
    let mut stage = Stage::new(model).tool(takes_a_while(policy(true, 2_000)));
    stage.harness.with_bounds(ExecutorBounds { max_parallel: 1, ..Default::default() }).unwrap();
    let run = stage.run().await.unwrap();
    assert_eq!(texts(&run.messages), ["in time", "in time"]);
    assert_eq!(start.elapsed(), 3 * SECOND, "one after the other");
    // The same where a permit of the tree is waited for.
    let model = ScriptedModel::new().calls(calls(["act", "act"])).text("done");
    let mut stage = Stage::new(model).tool(takes_a_while(policy(true, 2_000)));
    stage.harness.with_bounds(ExecutorBounds { max_bodies: 1, ..Default::default() }).unwrap();
    assert_eq!(texts(&stage.run().await.unwrap().messages), ["in time", "in time"]);
    assert_eq!(start.elapsed(), 6 * SECOND);
}

struct Slow;

#[tinyagents::async_trait]
impl Approver for Slow {
    async fn ask(&self, _: ApprovalRequest) -> Approval {
        sleep(60 * SECOND).await;
        Approval::Once
    }
}

#[tokio::test(start_paused = true)]
async fn a_timeout_does_not_run_while_a_person_is_asked() {
    let mut asks = policy(false, 2_000);
    asks.access.approval_required = true;
    let model = ScriptedModel::new().calls(calls(["act", "act"])).text("done");
    let mut stage = Stage::new(model).tool(takes_a_while(asks));
    stage.harness.with_approver(Slow);
    let start = Instant::now();
    let run = stage.run().await.unwrap();
    assert_eq!(texts(&run.messages), ["in time", "in time"]);
    assert_eq!(start.elapsed(), Duration::from_secs(123));
}

#[tokio::test(start_paused = true)]
async fn every_attempt_has_the_whole_timeout() {
    let count = Count::default();
    let counted = count.clone();
    let mut twice = policy(true, 2_000);
    twice.runtime.max_retries = 1;
    let tool = doing("act", twice, move |_| {
        counted.add();
        let first = counted.get() == 1;
        async move {
            sleep(Duration::from_millis(1_500)).await;
            if first { Err(ToolError::transient("busy")) } else { Ok("in time".into()) }
        }
    });
    let mut stage = Stage::new(ScriptedModel::new().call("act", json!({})).text("done")).tool(tool);
    let run = stage.run().await.unwrap();
    assert_eq!(texts(&run.messages), ["in time"]);
    let elapsed = stage.events.find(|event| match event {
        AgentEvent::ToolCompleted { elapsed, attempts, .. } => Some((*elapsed, *attempts)),
        _ => None,
    });
    assert_eq!(elapsed.len(), 1);
    assert_eq!(elapsed[0].1, 2);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_cancels_its_token_ends_nothing_but_itself() {
    let noted = Count::default();
    let seen = noted.clone();
    let cancels = doing("cancels", policy(true, 0), |call| async move {
        call.cancellation.cancel();
        sleep(SECOND).await;
        Ok("went on".into())
    });
    let sibling = doing("sibling", policy(true, 0), move |call| {
        let seen = seen.clone();
        async move {
            sleep(2 * SECOND).await;
            if call.cancellation.is_cancelled() {
                seen.add();
            }
            Ok("undisturbed".into())
        }
    });
    let model =
        ScriptedModel::new().calls(calls(["cancels", "sibling"])).calls(calls(["sibling"])).text("done");
    let mut stage = Stage::new(model).tool(cancels).tool(sibling);
    let run = stage.run().await.unwrap();
    assert_eq!(texts(&run.messages), ["went on", "undisturbed", "undisturbed"]);
    assert_eq!((noted.get(), run.finish), (0, RunFinish::Completed));
}

#[tokio::test(start_paused = true)]
async fn a_body_that_the_end_of_the_runs_time_stops_is_told_so_whatever_else_happens_then() {
    let limits = RunLimits {
        max_duration: 3 * SECOND,
        behavior: LimitBehavior::StopWithPartial,
        ..RunLimits::default()
    };
    let hangs = doing("hangs", policy(true, 0), |_| std::future::pending());
    // The clock passes the end of the run's time while the dispatcher starts the second call.
    let jumps = doing("jumps", policy(true, 0), |_| async {
        tokio::time::advance(10 * SECOND).await;
        std::future::pending().await
    });
    let model = ScriptedModel::new().calls(calls(["hangs", "jumps"]));
    let mut stage =
        Stage::new(model).policy(RunPolicy { limits, ..RunPolicy::recovering() }).tool(hangs).tool(jumps);
    let run = stage.run().await.unwrap();
    for text in texts(&run.messages) {
        assert!(text.contains("the run's time was over while the tool ran"), "{text}");
    }
    assert_eq!(failures(&stage), [(FailureKind::TimedOut, Effects::Unknown); 2]);
}
