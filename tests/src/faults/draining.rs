//! A turn that cannot go on: what runs, what has not started, and with which error the run ends.

use std::time::Duration;

use serde_json::json;
use tinyagents::TinyAgentsError;
use tinyagents::harness::context::{RunContext, RunPolicy};
use tinyagents::harness::event::{AgentEvent, FailureKind};
use tinyagents::harness::executor::ExecutorBounds;
use tinyagents::harness::message::{Message, ToolCall};
use tinyagents::harness::policy::{Approval, ApprovalRequest, Approver, ToolAccess, ToolPolicy};
use tinyagents::harness::runtime::SubAgent;
use tinyagents::harness::tool::{Tool, ToolError};
use tinyagents::testkit::ScriptedModel;
use tokio::time::{Instant, sleep};

use crate::fixture::{Count, Stage, assert_whole, doing, results};

const SECOND: Duration = Duration::from_secs(1);

fn fails_after(name: &str, policy: ToolPolicy, seconds: u32) -> impl Tool<()> + use<> {
    let why = format!("{name} is broken");
    doing(name, policy, move |_| {
        let why = why.clone();
        async move {
            sleep(SECOND * seconds).await;
            Err(ToolError::fatal(why))
        }
    })
}

/// Takes so long, and does not listen.
fn slow(name: &str, policy: ToolPolicy, seconds: u32) -> impl Tool<()> + use<> {
    doing(name, policy, move |_| async move {
        sleep(SECOND * seconds).await;
        Ok("done".into())
    })
}

fn counted(name: &str, count: &Count) -> impl Tool<()> + use<> {
    let count = count.clone();
    doing(name, ToolPolicy::default(), move |_| {
        count.add();
        async { Ok("done".into()) }
    })
}

fn asks(policy: ToolPolicy) -> ToolPolicy {
    policy.with_access(ToolAccess { approval_required: true, ..ToolAccess::default() })
}

/// A stage whose model makes these calls at once.
fn stage(names: &[&str]) -> Stage {
    let calls = names.iter().enumerate().map(|(at, name)| ToolCall::new(format!("c{at}"), *name, json!({})));
    Stage::new(ScriptedModel::new().calls(calls))
}

/// Runs to the error; gives its text, the results, and how many seconds it took.
async fn ends(stage: &mut Stage) -> (String, Vec<String>, u64) {
    let start = Instant::now();
    let error = tokio::time::timeout(SECOND * 300, stage.fails()).await.expect("the run ends");
    let took = start.elapsed().as_secs();
    let transcript = stage.transcript();
    (error.to_string(), results(&transcript).iter().map(|result| result.text()).collect(), took)
}

#[tokio::test(start_paused = true)]
async fn reads_are_told_at_once_and_stopped_after_their_grace() {
    let listens = doing("listens", ToolPolicy::read_only(), |call| async move {
        call.cancellation.cancelled().await;
        Ok("heard".into())
    });
    let broken = || fails_after("broken", ToolPolicy::read_only(), 1);
    let mut quick = stage(&["listens", "broken"]).tool(listens).tool(broken());
    let (error, texts, took) = ends(&mut quick).await;
    assert_eq!((error.as_str(), took), ("broken is broken", 1), "who listens holds nothing up");
    assert!(
        texts[0].contains("another call ended the run while the tool ran; it ended by itself"),
        "{texts:?}"
    );
    assert_eq!(texts[1], "error: broken is broken");

    let deaf = slow("deaf", ToolPolicy::read_only(), 60);
    let (_, texts, took) = ends(&mut stage(&["deaf", "broken"]).tool(deaf).tool(broken())).await;
    assert_eq!(took, 1 + 5, "one second, and the grace");
    assert!(texts[0].contains("it was stopped, and what it had done by then is unknown"), "{texts:?}");
}

#[tokio::test(start_paused = true)]
async fn changes_get_the_grace_before_they_are_told() {
    for (seconds, took, text) in [(4, 4, "done"), (60, 1 + 5 + 5, "what it had done by then is unknown")] {
        let mut stage = stage(&["other", "broken"])
            .tool(slow("other", ToolPolicy::default(), seconds))
            .tool(fails_after("broken", ToolPolicy::default(), 1));
        for name in ["other", "broken"] {
            stage.harness.promote(name).unwrap();
        }
        let (error, texts, seconds) = ends(&mut stage).await;
        assert_eq!((error.as_str(), seconds), ("broken is broken", took), "late is better than half");
        assert!(texts[0].ends_with(text), "{texts:?}");
    }
}

/// Stops the run.
struct Stops;

#[tinyagents::async_trait]
impl Approver for Stops {
    async fn ask(&self, _: ApprovalRequest) -> Approval {
        sleep(SECOND).await;
        Approval::stop("enough")
    }
}

/// Answers nothing.
struct Silent;

#[tinyagents::async_trait]
impl Approver for Silent {
    async fn ask(&self, _: ApprovalRequest) -> Approval {
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_nested_run_gets_the_grace_when_a_person_stops_the_one_beside_it() {
    let calls = ["works", "asks"].map(|name| ToolCall::new(name, name, json!({ "task": "go" })));
    let mut stage = Stage::new(ScriptedModel::new().calls(calls))
        .tool(slow("late", ToolPolicy::default(), 4))
        .tool(slow("asked", asks(ToolPolicy::classified()), 1));
    for (name, tool) in [("works", "late"), ("asks", "asked")] {
        let model = ScriptedModel::new().call(tool, json!({})).text("all is done");
        stage.harness.register_model(name, model).unwrap();
        let agent = SubAgent::new(name, "Works.").with_model(name);
        stage.harness.register_tool(agent.into_tool()).unwrap();
    }
    stage.harness.with_approver(Stops);
    let ctx = RunContext::default();
    let handle = ctx.handle();
    let start = Instant::now();
    let run = stage.harness.invoke_in_context(&(), ctx, vec![Message::user("go")]).await;
    let stopped = matches!(run, Err(TinyAgentsError::Stopped(why)) if why == "enough");
    assert!(stopped, "a stop reaches the outermost run");
    assert_eq!(start.elapsed().as_secs(), 4);
    let transcript = handle.transcript();
    assert_whole(&transcript);
    assert_eq!(results(&transcript)[0].text(), "all is done");
    assert!(results(&transcript)[1].is_error);
}

#[tokio::test(start_paused = true)]
async fn what_has_not_started_is_skipped() {
    let ran = Count::default();
    let mut stage = stage(&["broken", "waits", "later", "asked"])
        .tool(fails_after("broken", ToolPolicy::read_only(), 1))
        .tool(slow("waits", ToolPolicy::read_only(), 1)) // in line behind the first
        .tool(counted("later", &ran)) // of another segment
        .tool(slow("asked", asks(ToolPolicy::classified()), 1));
    stage.harness.with_approver(Stops);
    stage.harness.with_bounds(ExecutorBounds { max_parallel: 1, ..ExecutorBounds::default() }).unwrap();
    let (error, texts, took) = ends(&mut stage).await;
    assert_eq!((error.as_str(), took, ran.get()), ("broken is broken", 1, 0));
    for text in &texts[1..] {
        assert_eq!(text, "error: not executed: another call of this turn ended the run");
    }
    assert!(!stage.events.kinds().contains(&"tool.approval_asked"));
}

#[tokio::test(start_paused = true)]
async fn a_person_is_no_longer_asked() {
    let mut stage = stage(&["asked", "broken"])
        .tool(slow("asked", asks(ToolPolicy::read_only()), 1))
        .tool(fails_after("broken", ToolPolicy::read_only(), 1));
    stage.harness.with_approver(Silent);
    let (error, texts, took) = ends(&mut stage).await;
    assert_eq!((error.as_str(), took), ("broken is broken", 1));
    assert_eq!(texts[0], "error: not executed: another call of this turn ended the run");
}

#[tokio::test(start_paused = true)]
async fn the_error_of_the_lowest_index_is_the_runs() {
    let mut stage = stage(&["first", "second"])
        .tool(fails_after("first", ToolPolicy::default(), 2))
        .tool(fails_after("second", ToolPolicy::default(), 1));
    for name in ["first", "second"] {
        stage.harness.promote(name).unwrap();
    }
    let (error, texts, _) = ends(&mut stage).await;
    assert_eq!(error, "first is broken");
    assert_eq!(texts, ["error: first is broken", "error: second is broken"]);
}

/// Every call is looked at before the first one starts, so a call that ends the run leaves nothing half done.
#[tokio::test(start_paused = true)]
async fn a_turn_with_a_call_that_fails_the_run_runs_nothing() {
    for (name, arguments) in [("missing", json!({})), ("look", json!({ "q": 5 }))] {
        for place in 0..3 {
            let ran = Count::default();
            let mut calls: Vec<_> =
                (0..3).map(|at| ToolCall::new(format!("c{at}"), "good", json!({}))).collect();
            calls[place] = ToolCall::new("bad", name, arguments.clone());
            let mut stage = Stage::new(ScriptedModel::new().calls(calls))
                .policy(RunPolicy::default())
                .tool(counted("good", &ran));
            let failed = match stage.fails().await {
                TinyAgentsError::ToolNotFound(tool) | TinyAgentsError::InvalidArguments { tool, .. } => tool,
                other => panic!("{other}"),
            };
            assert_eq!((failed.as_str(), ran.get(), stage.looked.get()), (name, 0, 0), "at {place}");
            let skipped = stage.events.find(|event| match event {
                AgentEvent::ToolFailed { failure: FailureKind::Skipped, .. } => Some(()),
                _ => None,
            });
            assert_eq!(skipped.len(), 2);
        }
    }
}
