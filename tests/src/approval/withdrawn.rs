//! A question whose answer is no longer wanted, an answer that does not come, and one that ends the run.

use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::Mutex;
use std::time::Duration;

use serde_json::json;
use tinyagents::TinyAgentsError;
use tinyagents::harness::context::{FailurePolicy, LimitKind, RunContext, RunLimits, RunPolicy};
use tinyagents::harness::event::{AgentEvent, FailureKind};
use tinyagents::harness::message::{Message, ToolCall};
use tinyagents::harness::policy::{Approval, ApprovalRequest, Approver, ToolPolicy};
use tinyagents::harness::runtime::{RunFinish, SubAgent};
use tinyagents::harness::tool::ToolError;
use tinyagents::prelude::{ChildRuns, tool};
use tinyagents::testkit::{ScriptedApprover, ScriptedModel};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};

use super::{A_WHILE, Slow, call, gated, prompts, run_beside, sending};
use crate::fixture::{Count, Stage, assert_whole, counted, doing, ends, texts};

const SECOND: Duration = Duration::from_secs(1);

fn one_send() -> ScriptedModel {
    ScriptedModel::new().call("send", json!({})).text("done")
}

fn failures(stage: &Stage) -> Vec<FailureKind> {
    stage.events.find(|event| match event {
        AgentEvent::ToolFailed { failure, .. } => Some(*failure),
        _ => None,
    })
}

#[tokio::test(start_paused = true)]
async fn no_answer_in_time_is_a_refusal_that_says_so() {
    let model = ScriptedModel::new().call("send", json!({})).call("send", json!({})).text("done");
    let approver = ScriptedApprover::new().never();
    let (stage, sent) = sending(model, approver.clone());
    let policy = RunPolicy { approval_timeout: Some(30 * SECOND), ..RunPolicy::recovering() };
    let mut stage = stage.policy(policy);
    let start = Instant::now();
    let run = ends(stage.run()).await.unwrap();
    assert_eq!((start.elapsed(), sent.get()), (30 * SECOND, 0));
    let expected = [
        "error: denied, and not executed: nobody answered within 30s",
        "error: denied, and not executed: already denied: nobody answered within 30s; do not repeat this call",
    ];
    assert_eq!(texts(&run.messages), expected);
    assert_eq!(prompts(&stage), ["asked call_1", "call_1 denied"]);
}

#[tokio::test(start_paused = true)]
async fn the_time_to_answer_begins_when_the_question_is_shown() {
    let calls = ["a", "b", "c"].map(|id| ToolCall::new(id, "read", json!({ "id": id })));
    let count = Count::default();
    let policy = RunPolicy { approval_timeout: Some(A_WHILE + SECOND), ..RunPolicy::recovering() };
    let mut stage = Stage::new(ScriptedModel::new().calls(calls).text("done")).policy(policy).tool(counted(
        "read",
        gated(ToolPolicy::read_only()),
        &count,
    ));
    stage.harness.with_approver(Slow::default());
    ends(stage.run()).await.unwrap();
    assert_eq!(count.get(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_cancel_withdraws_the_question() {
    let calls = [call("a", "send"), ToolCall::new("b", "send", json!({ "b": 1 }))];
    let (stage, sent) = sending(ScriptedModel::new().calls(calls), ScriptedApprover::new().never());
    let start = Instant::now();
    let run = run_beside(&stage, |handle| async move {
        sleep(SECOND).await;
        handle.cancel();
    })
    .await
    .unwrap();
    assert_eq!((run.finish, sent.get(), start.elapsed()), (RunFinish::Cancelled, 0, SECOND));
    assert_eq!(failures(&stage), [FailureKind::Cancelled, FailureKind::Cancelled]);
    assert_eq!(prompts(&stage), ["asked a", "a denied"]);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_runs_time_withdraws_the_question() {
    let (stage, sent) = sending(one_send(), ScriptedApprover::new().never());
    let limits = RunLimits { max_duration: 5 * SECOND, ..RunLimits::default() };
    let mut stage = stage.policy(RunPolicy { limits, ..RunPolicy::recovering() });
    let start = Instant::now();
    assert!(matches!(ends(stage.fails()).await, TinyAgentsError::LimitReached(LimitKind::Duration)));
    assert_eq!((start.elapsed(), sent.get()), (5 * SECOND, 0));
    assert_eq!(failures(&stage), [FailureKind::LimitReached]);
    assert_eq!(prompts(&stage), ["asked call_1", "call_1 denied"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_ends_the_run_withdraws_the_question() {
    let read = Count::default();
    let calls = [call("a", "read"), call("b", "fatal")];
    let mut stage = Stage::new(ScriptedModel::new().calls(calls))
        .tool(counted("read", gated(ToolPolicy::read_only()), &read))
        .tool(doing("fatal", ToolPolicy::read_only(), |_| async {
            sleep(SECOND).await;
            Err(ToolError::fatal("lost"))
        }));
    stage.harness.with_approver(ScriptedApprover::new().never());
    let start = Instant::now();
    assert!(matches!(ends(stage.fails()).await, TinyAgentsError::Tool(_)));
    assert_eq!((start.elapsed(), read.get()), (SECOND, 0));
    assert_eq!(prompts(&stage), ["asked a", "a denied"]);
    assert!(texts(&stage.transcript())[0].contains("another call of this turn ended the run"));
}

#[tokio::test(start_paused = true)]
async fn a3_a_message_of_the_user_supersedes_a_question() {
    let (stage, sent) = sending(one_send(), ScriptedApprover::new().never());
    let run = run_beside(&stage, |handle| async move {
        sleep(SECOND).await;
        handle.queue("never mind").unwrap();
    })
    .await
    .unwrap();
    let texts: Vec<_> = run.messages.iter().map(Message::text).collect();
    let why = "error: not executed: superseded by a new message of the user";
    assert_eq!(texts, ["go", "", why, "never mind", "done"]);
    assert_eq!((sent.get(), failures(&stage)), (0, vec![FailureKind::Superseded]));
    assert_eq!(prompts(&stage), ["asked call_1", "call_1 denied"]);
}

#[tokio::test(start_paused = true)]
async fn a4_a_message_supersedes_every_question_of_the_turn_and_nothing_else() {
    let read = Count::default();
    let calls = [
        call("a", "gated"),
        ToolCall::new("b", "gated", json!({ "b": 1 })),
        call("c", "look"),
        ToolCall::new("d", "look", json!({ "q": "tea" })),
        call("e", "send"),
    ];
    let (stage, sent) = sending(
        ScriptedModel::new().calls(calls).call("send", json!({ "again": true })).text("done"),
        ScriptedApprover::new().never().once(),
    );
    let stage = stage.tool(counted("gated", gated(ToolPolicy::read_only()), &read));
    let run = run_beside(&stage, |handle| async move {
        sleep(SECOND).await;
        handle.queue("stop asking").unwrap();
    })
    .await
    .unwrap();
    // The second and the last were never shown; the message is there before the model is asked, and new calls are new.
    assert_eq!(prompts(&stage), ["asked a", "a denied", "asked call_1", "call_1 allowed"]);
    let superseded = failures(&stage).iter().filter(|kind| **kind == FailureKind::Superseded).count();
    assert_eq!((superseded, read.get(), stage.looked.get(), sent.get()), (3, 0, 1, 1));
    assert_eq!(run.messages[7], Message::user("stop asking"));
    assert_eq!(run.answer().as_deref(), Some("done"));
}

#[tokio::test(start_paused = true)]
async fn who_waits_in_line_and_leaves_it_was_never_asked() {
    let approver = ScriptedApprover::new().never().once();
    let (stage, sent) = sending(
        ScriptedModel::new().calls([call("a", "send")]).calls([call("b", "send")]).text("done"),
        approver.clone(),
    );
    let first = RunContext::default();
    let second = RunContext::default();
    let (cancel_first, cancel_second) = (first.handle(), second.handle());
    let run = |ctx| stage.harness.invoke_in_context(&(), ctx, vec![Message::user("go")]);
    let (_, b, ()) = ends(async {
        tokio::join!(run(first), run(second), async {
            sleep(SECOND).await;
            cancel_second.cancel();
            sleep(SECOND).await;
            cancel_first.cancel();
        })
    })
    .await;
    assert_eq!(b.unwrap().finish, RunFinish::Cancelled);
    assert_eq!((prompts(&stage), sent.get()), (vec!["asked a".into(), "a denied".into()], 0));
    assert_eq!(approver.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_withdrawn_question_makes_room_for_the_next() {
    let approver = ScriptedApprover::new().never().once();
    let (stage, sent) = sending(
        ScriptedModel::new().calls([call("a", "send")]).calls([call("b", "send")]).text("done"),
        approver.clone(),
    );
    let first = RunContext::default();
    let cancel = first.handle();
    let run = |ctx| stage.harness.invoke_in_context(&(), ctx, vec![Message::user("go")]);
    let (_, b, ()) = ends(async {
        tokio::join!(run(first), run(RunContext::default()), async {
            sleep(SECOND).await;
            cancel.cancel();
        })
    })
    .await;
    assert_eq!((b.unwrap().finish, sent.get()), (RunFinish::Completed, 1));
    assert_eq!(prompts(&stage), ["asked a", "a denied", "asked b", "b allowed"]);
}

#[tokio::test]
async fn an_approved_call_of_a_run_that_was_cancelled_meanwhile_does_not_run() {
    let ctx = RunContext::default();
    let cancel = ctx.handle();
    let approver = ScriptedApprover::new().respond(move |_| {
        cancel.cancel();
        Approval::Run
    });
    let (stage, sent) = sending(one_send(), approver);
    let run = ends(stage.harness.invoke_in_context(&(), ctx, vec![Message::user("go")])).await.unwrap();
    assert_whole(&run.messages);
    assert_eq!((run.finish, sent.get()), (RunFinish::Cancelled, 0));
}

/// Panics, within its future or before there is one.
struct Panics(bool);

impl Approver for Panics {
    fn ask<'a, 'b>(&'a self, _: ApprovalRequest) -> Pin<Box<dyn Future<Output = Approval> + Send + 'b>>
    where
        'a: 'b,
        Self: 'b,
    {
        assert!(!self.0, "no terminal");
        Box::pin(async { panic!("no terminal") })
    }
}

/// Waits for somebody who has gone away.
struct Dropped(Mutex<Option<oneshot::Receiver<Approval>>>);

#[tinyagents::async_trait]
impl Approver for Dropped {
    async fn ask(&self, _: ApprovalRequest) -> Approval {
        let answer = self.0.lock().unwrap().take();
        match answer {
            Some(answer) => answer.await.unwrap_or_default(),
            None => pending().await,
        }
    }
}

#[tokio::test]
async fn an_approver_that_fails_has_not_agreed() {
    let approvers: [(Box<dyn Approver>, &str); 3] = [
        (Box::new(Panics(false)), "the approver panicked: no terminal"),
        (Box::new(Panics(true)), "the approver panicked: no terminal"),
        (Box::new(Dropped(Mutex::new(Some(oneshot::channel().1)))), "nobody approved it"),
    ];
    struct Boxed(Box<dyn Approver>);

    #[tinyagents::async_trait]
    impl Approver for Boxed {
        async fn ask(&self, request: ApprovalRequest) -> Approval {
            self.0.ask(request).await
        }
    }

    for (approver, why) in approvers {
        let (mut stage, sent) = sending(one_send(), Boxed(approver));
        let run = ends(stage.run()).await.unwrap();
        assert_eq!(texts(&run.messages), [format!("error: denied, and not executed: {why}")]);
        assert_eq!(sent.get(), 0);
    }
    // As the harness calls it itself, too.
    let (mut stage, sent) = sending(one_send(), Panics(true));
    ends(stage.run()).await.unwrap();
    assert_eq!((sent.get(), prompts(&stage)), (0, vec!["asked call_1".into(), "call_1 denied".into()]));
}

#[tokio::test(start_paused = true)]
async fn a_stop_closes_the_turn_and_ends_the_run() {
    let (read, finished) = (Count::default(), Count::default());
    let done = finished.clone();
    let calls = [call("a", "promoted"), call("b", "send_beside"), call("c", "send"), call("d", "read")];
    let (stage, sent) = sending(
        ScriptedModel::new().calls(calls),
        Slow { answer: Some(Approval::stop("enough")), ..Slow::default() },
    );
    let mut stage = stage
        .tool(doing("promoted", ToolPolicy::classified(), move |_| {
            let done = done.clone();
            async move {
                sleep(A_WHILE + 2 * SECOND).await;
                done.add();
                Ok("late".into())
            }
        }))
        .tool(counted("send_beside", gated(ToolPolicy::classified()), &sent))
        .tool(counted("read", ToolPolicy::read_only(), &read));
    stage.harness.promote("promoted").unwrap().promote("send_beside").unwrap();
    let error = ends(stage.fails()).await;
    assert!(matches!(&error, TinyAgentsError::Stopped(reason) if reason == "enough"), "{error}");
    let skipped = "error: not executed: another call of this turn ended the run";
    assert_eq!(
        texts(&stage.transcript())[1..],
        ["error: denied, and not executed: enough", skipped, skipped]
    );
    // A change that had started got its grace.
    assert_eq!((sent.get(), read.get(), finished.get()), (0, 0, 1));
    assert_eq!(prompts(&stage), ["asked b", "b denied"]);
}

#[tokio::test]
async fn a_stop_in_a_sub_agent_ends_the_whole() {
    let calls = [ToolCall::new("a", "outer", json!({ "task": "go" })), call("b", "send")];
    let (stage, sent) = sending(ScriptedModel::new().calls(calls), ScriptedApprover::new().stop("enough"));
    let mut stage = stage
        .tool(SubAgent::new("outer", "Has an agent.").with_model("outer").into_tool())
        .tool(SubAgent::new("inner", "Sends.").with_model("inner").into_tool());
    let outer = ScriptedModel::new().call("inner", json!({ "task": "go" }));
    stage.harness.register_model("outer", outer).unwrap();
    stage.harness.register_model("inner", ScriptedModel::new().call("send", json!({}))).unwrap();
    let error = ends(stage.fails()).await;
    assert!(matches!(&error, TinyAgentsError::Stopped(reason) if reason == "enough"), "{error}");
    assert_eq!((sent.get(), results_of(&stage)), (0, 2));
    assert_eq!(prompts(&stage).len(), 2);
}

fn results_of(stage: &Stage) -> usize {
    texts(&stage.transcript()).len()
}

#[tokio::test]
async fn nobody_is_asked_about_a_change_that_is_skipped_anyway() {
    let approver = ScriptedApprover::new();
    let (stage, sent) = sending(
        ScriptedModel::new().calls([call("a", "breaks"), call("b", "send")]).text("done"),
        approver.clone(),
    );
    let mut stage = stage
        .policy(RunPolicy { failure: FailurePolicy::SkipLaterMutations, ..RunPolicy::recovering() })
        .tool(doing("breaks", ToolPolicy::classified(), |_| async { Err(ToolError::failed("no")) }));
    let run = ends(stage.run()).await.unwrap();
    assert_eq!((sent.get(), approver.requests().len()), (0, 0));
    assert_eq!(texts(&run.messages)[1], "error: not executed: an earlier change of this turn, `a`, failed");
}

/// Has an agent do it.
#[tool(recursive)]
async fn by_tool_error(#[inject] runs: ChildRuns) -> Result<String, ToolError> {
    let agent = SubAgent::new("inner", "Sends.").with_model("inner");
    Ok(runs.run(&agent, vec![Message::user("go")]).await?.answer().unwrap_or_default())
}

/// Has an agent do it.
#[tool(recursive)]
async fn by_own_error(#[inject] runs: ChildRuns) -> Result<String, TinyAgentsError> {
    let agent = SubAgent::new("inner", "Sends.").with_model("inner");
    Ok(runs.run(&agent, vec![Message::user("go")]).await?.answer().unwrap_or_default())
}

#[tokio::test]
async fn a_stop_ends_the_whole_through_a_tool_that_passes_it_on() {
    for name in ["by_tool_error", "by_own_error"] {
        let (stage, sent) = sending(
            ScriptedModel::new().call(name, json!({})).text("went on"),
            ScriptedApprover::new().stop("enough"),
        );
        let mut stage = stage.tool(ByToolError).tool(ByOwnError);
        stage.harness.register_model("inner", ScriptedModel::new().call("send", json!({}))).unwrap();
        let error = ends(stage.fails()).await;
        assert!(matches!(&error, TinyAgentsError::Stopped(reason) if reason == "enough"), "{name}: {error}");
        assert_eq!(sent.get(), 0);
    }
}
