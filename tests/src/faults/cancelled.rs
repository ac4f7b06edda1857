//! A run that is cancelled or goes away while it does one particular thing.

use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tinyagents::harness::context::RunContext;
use tinyagents::harness::event::{AgentEvent, Effects, FailureKind};
use tinyagents::harness::message::{Message, ToolCall};
use tinyagents::harness::policy::{
    Approval, ApprovalRequest, Approver, ToolAccess, ToolPolicy, ToolRuntimePolicy,
};
use tinyagents::harness::runtime::RunFinish;
use tinyagents::harness::store::{ArtifactStore, StoreError, StoreRegistry};
use tinyagents::testkit::ScriptedModel;
use tokio::sync::Notify;

use crate::fixture::{Count, Stage, assert_whole, doing, results};

/// Agrees to every call but one.
struct Agrees;

#[tinyagents::async_trait]
impl Approver for Agrees {
    async fn ask(&self, request: ApprovalRequest) -> Approval {
        if request.call.id == "refused" { Approval::deny("no") } else { Approval::Once }
    }
}

fn asked() -> ToolPolicy {
    ToolPolicy::classified().with_access(ToolAccess { approval_required: true, ..ToolAccess::default() })
}

fn small() -> ToolRuntimePolicy {
    ToolRuntimePolicy { max_result_bytes: Some(100), ..Default::default() }
}

/// A store that says when it is asked, and then waits.
struct Slow {
    asked: Arc<Notify>,
    go: Arc<Notify>,
}

#[tinyagents::async_trait]
impl ArtifactStore for Slow {
    async fn put(&self, _: &str, _: &str, _: Vec<u8>) -> Result<(), StoreError> {
        self.asked.notify_one();
        self.go.notified().await;
        Ok(())
    }

    async fn get(&self, _: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(None)
    }
}

fn failures(stage: &Stage) -> Vec<(FailureKind, Effects)> {
    stage.events.find(|event| match event {
        AgentEvent::ToolFailed { failure, effects, .. } => Some((*failure, *effects)),
        _ => None,
    })
}

#[tokio::test(start_paused = true)]
async fn a8_a_call_that_ran_is_told_apart_from_one_that_was_refused() {
    let started = Arc::new(Notify::new());
    let tell = Arc::clone(&started);
    let tool = doing("act", asked(), move |_| {
        tell.notify_one();
        pending()
    });
    let calls = ["refused", "running", "later"].map(|id| ToolCall::new(id, "act", json!({ "n": id })));
    let mut stage = Stage::new(ScriptedModel::new().calls(calls)).tool(tool);
    stage.harness.with_approver(Agrees);
    let ctx = RunContext::default();
    let handle = ctx.handle();
    let run = stage.harness.invoke_in_context(&(), ctx, vec![Message::user("go")]);
    let (run, ()) = tokio::join!(run, async {
        started.notified().await;
        handle.cancel();
    });
    let run = run.unwrap();
    assert_eq!(run.finish, RunFinish::Cancelled);
    assert_whole(&run.messages);
    let texts: Vec<_> = results(&run.messages).iter().map(|result| result.text()).collect();
    let expected = [
        "error: denied, and not executed: no",
        "error: the run was cancelled while the tool ran; it was stopped, and what it had done by then is unknown",
        "error: not executed: the run was cancelled before this call started",
    ];
    assert_eq!(texts, expected);
    assert_eq!(
        failures(&stage),
        [
            (FailureKind::Denied, Effects::None),
            (FailureKind::Cancelled, Effects::Unknown),
            (FailureKind::Cancelled, Effects::None)
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn e57_a_cancel_after_the_body_and_before_the_store_leaves_one_execution() {
    for dropped in [false, true] {
        let (ran, kept, go) = (Count::default(), Arc::new(Notify::new()), Arc::new(Notify::new()));
        let counts = ran.clone();
        let tool = doing("act", asked().with_runtime(small()), move |_| {
            counts.add();
            async { Ok("x".repeat(300)) }
        });
        let mut stage = Stage::new(ScriptedModel::new().call("act", json!({})).text("done")).tool(tool);
        let store = Slow { asked: Arc::clone(&kept), go: Arc::clone(&go) };
        stage.harness.with_approver(Agrees).with_stores(StoreRegistry::new().with_artifacts(store));
        let ctx = RunContext::default();
        let handle = ctx.handle();
        {
            let mut run = Box::pin(stage.harness.invoke_in_context(&(), ctx, vec![Message::user("go")]));
            tokio::select! {
                _ = &mut run => panic!("the store waits"),
                () = kept.notified() => {}
            }
            if !dropped {
                handle.cancel();
                go.notify_one();
                assert_eq!(run.await.unwrap().finish, RunFinish::Cancelled);
            }
        }
        stage.events.assert_settled();
        let transcript = handle.transcript();
        assert_whole(&transcript);
        let result = results(&transcript)[0];
        if dropped {
            assert_eq!(failures(&stage), [(FailureKind::Cancelled, Effects::Unknown)]);
            assert!(
                result.text().starts_with("error: interrupted: the call had started"),
                "{}",
                result.text()
            );
        } else {
            assert_eq!((result.is_error, result.artifacts.len()), (false, 1), "what is done stays done");
        }
        // Going on from what is stored does not make the call again.
        let mut messages = transcript.to_vec();
        messages.push(Message::user("go on"));
        let run = stage.harness.invoke(&(), messages).await.unwrap();
        assert_eq!((run.answer().as_deref(), ran.get()), (Some("done"), 1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_dropped_ends_its_run() {
    for until in ["run.started", "model.completed", "turn.opened", "tool.requested", "tool.started"] {
        let model = ScriptedModel::new().call("act", json!({})).text("never");
        let stage = Stage::new(model).tool(doing("act", ToolPolicy::default(), |_| pending()));
        let mut stream =
            stage.harness.invoke_stream(&(), RunContext::default(), vec![Message::user("go")]).unwrap();
        let handle = stream.handle();
        while stream.next_event().await.expect("the run goes on").event.kind() != until {}
        drop(stream);
        stage.events.assert_settled();
        assert_whole(&handle.transcript());
        let kinds = stage.events.kinds();
        let count = |kind: &str| kinds.iter().filter(|known| **known == kind).count();
        assert_eq!((kinds.last(), count("run.failed")), (Some(&"run.failed"), 1), "{until}");
        assert_eq!(count("turn.opened"), count("turn.closed"), "{until}");
        assert!(handle.queue("too late").is_err());
    }
}

#[tokio::test(start_paused = true)]
async fn a_single_call_that_is_dropped_is_no_part_of_a_conversation() {
    let stage = Stage::new(ScriptedModel::new()).tool(doing("act", ToolPolicy::default(), |_| pending()));
    let ctx = RunContext::default();
    let handle = ctx.handle();
    {
        let call = stage.harness.call_tool(&(), ctx, ToolCall::new("c", "act", json!({})));
        assert!(tokio::time::timeout(Duration::from_secs(1), call).await.is_err());
    }
    stage.events.assert_settled();
    assert_eq!(failures(&stage), [(FailureKind::Cancelled, Effects::Unknown)]);
    assert_eq!(*handle.transcript(), []);
    assert!(!stage.events.kinds().contains(&"turn.closed"), "{:?}", stage.events.kinds());
}

type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Implements what it must by hand, and panics before there is a future.
struct Rash;

impl Approver for Rash {
    fn ask<'a, 'b>(&'a self, _: ApprovalRequest) -> Boxed<'b, Approval>
    where
        'a: 'b,
        Self: 'b,
    {
        panic!("rash")
    }
}

impl ArtifactStore for Rash {
    fn put<'a, 'b, 'c, 'd>(&'a self, _: &'b str, _: &'c str, _: Vec<u8>) -> Boxed<'d, Result<(), StoreError>>
    where
        'a: 'd,
        'b: 'd,
        'c: 'd,
        Self: 'd,
    {
        panic!("rash")
    }

    fn get<'a, 'b, 'c>(&'a self, _: &'b str) -> Boxed<'c, Result<Option<Vec<u8>>, StoreError>>
    where
        'a: 'c,
        'b: 'c,
        Self: 'c,
    {
        panic!("rash")
    }
}

#[tokio::test(start_paused = true)]
async fn code_that_panics_before_it_gives_a_future_is_caught() {
    let calls = ["asked", "large"].map(|name| ToolCall::new(name, name, json!({})));
    let large = ToolPolicy::read_only().with_runtime(small());
    let mut stage = Stage::new(ScriptedModel::new().calls(calls).text("done"))
        .tool(doing("asked", asked(), |_| async { Ok("done".into()) }))
        .tool(doing("large", large, |_| async { Ok("x".repeat(300)) }));
    stage.harness.with_approver(Rash).with_stores(StoreRegistry::new().with_artifacts(Rash));
    let run = stage.run().await.unwrap();
    assert_eq!(run.messages[2].text(), "error: denied, and not executed: the approver panicked: rash");
    assert!(run.messages[3].text().contains("the rest could not be kept"));
    assert_eq!(run.answer().as_deref(), Some("done"));
}
