//! Asking a person whether a call may run.
//!
//! Guarantee: what was shown is what runs, and nothing runs that was not approved; while a person is asked the call
//! holds nothing, and one is asked at a time.

mod answers;
mod beside;
mod withdrawn;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tinyagents::TinyAgentsError;
use tinyagents::harness::context::{RunContext, RunHandle, RunPolicy};
use tinyagents::harness::event::{AgentEvent, Decision, Effects, FailureKind};
use tinyagents::harness::message::{Arguments, Message, ToolCall};
use tinyagents::harness::middleware::{Middleware, ToolGate};
use tinyagents::harness::policy::{
    Approval, ApprovalRequest, Approver, SandboxMode, ToolAccess, ToolPolicy, ToolRuntimePolicy,
};
use tinyagents::harness::runtime::AgentRun;
use tinyagents::harness::tool::{DynTool, ToolError};
use tinyagents::testkit::{ScriptedApprover, ScriptedModel};

use crate::fixture::{Count, Stage, assert_whole, counted, doing, ends, texts};

/// Has a person asked about each call.
fn gated(policy: ToolPolicy) -> ToolPolicy {
    policy.with_access(ToolAccess { approval_required: true, ..Default::default() })
}

/// `send`, which changes something and must be approved, on a stage with an approver.
fn sending(model: ScriptedModel, approver: impl Approver + 'static) -> (Stage, Count) {
    let sent = Count::default();
    let mut stage = Stage::new(model).tool(counted("send", gated(ToolPolicy::classified()), &sent));
    stage.harness.with_approver(approver);
    (stage, sent)
}

fn call(id: &str, name: &str) -> ToolCall {
    ToolCall::new(id, name, json!({}))
}

/// What was asked and answered, as the events say.
fn prompts(stage: &Stage) -> Vec<String> {
    stage.events.find(|event| match event {
        AgentEvent::ApprovalAsked { call_id, .. } => Some(format!("asked {call_id}")),
        AgentEvent::ApprovalAnswered { call_id, decision, .. } => Some(format!("{call_id} {decision}")),
        _ => None,
    })
}

/// The kinds of a stage's tool events with the calls that they are of.
fn steps(stage: &Stage) -> Vec<String> {
    let of_call = |record: tinyagents::harness::event::EventRecord| {
        let kind = record.event.kind().strip_prefix("tool.")?.to_string();
        Some(format!("{} {kind}", record.call_index?))
    };
    stage.events.records().into_iter().filter_map(of_call).collect()
}

fn position(steps: &[String], step: &str) -> usize {
    steps.iter().position(|known| known == step).unwrap_or_else(|| panic!("no `{step}` in {steps:?}"))
}

/// Runs a stage while `act` does something with the run's handle.
async fn run_beside<F: Future<Output = ()>>(
    stage: &Stage,
    act: impl FnOnce(RunHandle) -> F,
) -> tinyagents::Result<AgentRun> {
    let ctx = RunContext::default();
    let handle = ctx.handle();
    let run = stage.harness.invoke_in_context(&(), ctx, vec![Message::user("go")]);
    let (run, ()) = ends(async { tokio::join!(run, act(handle.clone())) }).await;
    stage.events.assert_settled();
    assert_whole(&handle.transcript());
    run
}

/// Answers after a while, and knows how many questions were open at once.
#[derive(Clone, Default)]
struct Slow {
    answer: Option<Approval>,
    open: Arc<Mutex<(u32, u32)>>,
    asked: Arc<Mutex<Vec<String>>>,
}

const A_WHILE: Duration = Duration::from_secs(10);

impl Slow {
    fn peak(&self) -> u32 {
        self.open.lock().unwrap().1
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

#[tinyagents::async_trait]
impl Approver for Slow {
    async fn ask(&self, request: ApprovalRequest) -> Approval {
        {
            let mut open = self.open.lock().unwrap();
            open.0 += 1;
            open.1 = open.1.max(open.0);
        }
        self.asked.lock().unwrap().push(request.call.id.to_string());
        tokio::time::sleep(A_WHILE).await;
        self.open.lock().unwrap().0 -= 1;
        self.answer.clone().unwrap_or(Approval::Once)
    }
}

#[tokio::test]
async fn without_anybody_to_ask_a_call_is_refused_and_the_model_is_told() {
    let zero = RunPolicy { approval_timeout: Some(Duration::ZERO), ..RunPolicy::recovering() };
    let somebody = ScriptedApprover::new().once();
    for (approver, policy) in [(None, RunPolicy::recovering()), (Some(somebody.clone()), zero)] {
        let sent = Count::default();
        let mut stage = Stage::new(ScriptedModel::new().call("send", json!({})).text("done"))
            .policy(policy)
            .tool(counted("send", gated(ToolPolicy::classified()), &sent));
        approver.map(|approver| stage.harness.with_approver(approver));
        let run = ends(stage.run()).await.unwrap();
        let why = "error: denied, and not executed: it needs a person's approval, and nobody can be asked in this run";
        assert_eq!((sent.get(), texts(&run.messages)), (0, vec![why.to_string()]));
        assert_eq!(steps(&stage), ["0 requested", "0 decided", "0 failed"]);
    }
    assert!(somebody.requests().is_empty());
}

#[tokio::test]
async fn e47_a_refused_call_never_runs() {
    let approver = ScriptedApprover::new().deny("not today");
    let (mut stage, sent) =
        sending(ScriptedModel::new().call("send", json!({})).text("done"), approver.clone());
    let run = ends(stage.run()).await.unwrap();
    assert_eq!(sent.get(), 0);
    assert_eq!(texts(&run.messages), ["error: denied, and not executed: not today"]);
    assert_eq!(run.answer().as_deref(), Some("done"), "a refusal ends nothing");
    let failed = stage.events.find(|event| match event {
        AgentEvent::ToolFailed { failure, effects, attempts, .. } => Some((*failure, *effects, *attempts)),
        _ => None,
    });
    assert_eq!(failed, [(FailureKind::Denied, Effects::None, 0)]);
    assert_eq!(
        steps(&stage),
        ["0 requested", "0 decided", "0 approval_asked", "0 approval_answered", "0 failed"]
    );
    approver.assert_complete();
}

#[tokio::test]
async fn an_approved_call_is_decided_asked_answered_and_then_admitted() {
    let (mut stage, sent) =
        sending(ScriptedModel::new().call("send", json!({})).text("done"), ScriptedApprover::new().once());
    ends(stage.run()).await.unwrap();
    assert_eq!(sent.get(), 1);
    assert_eq!(
        steps(&stage),
        [
            "0 requested",
            "0 decided",
            "0 approval_asked",
            "0 approval_answered",
            "0 admitted",
            "0 started",
            "0 completed"
        ]
    );
    let decided = stage.events.find(|event| match event {
        AgentEvent::ToolDecided { decision, reason, .. } => Some((*decision, reason.clone())),
        AgentEvent::ApprovalAnswered { decision, reason, .. } => Some((*decision, reason.clone())),
        _ => None,
    });
    let expected = [(Decision::Ask, "the tool requires an approval"), (Decision::Allow, "approved once")];
    assert_eq!(decided, expected.map(|(decision, reason)| (decision, reason.to_string())));
}

/// Changes the arguments of `note`, and has `look` approved.
struct Editor;

#[tinyagents::async_trait]
impl Middleware<()> for Editor {
    async fn before_tool(&self, _: &RunContext, _: &(), call: &mut ToolCall) -> tinyagents::Result<ToolGate> {
        match call.name.as_str() {
            "note" => call.arguments = json!({ "text": "edited", "times": null, "count": 2.0 }).into(),
            "look" | "boxed" => return Ok(ToolGate::ask("a hook wants to know")),
            _ => {}
        }
        Ok(ToolGate::Proceed)
    }
}

#[tokio::test]
async fn the_person_sees_the_final_arguments_and_those_are_what_runs() {
    let seen: Arc<Mutex<Vec<Arguments>>> = Arc::default();
    let record = Arc::clone(&seen);
    let schema = json!({
        "type": "object",
        "properties": {
            "text": { "type": "string" }, "times": { "type": "integer" }, "count": { "type": "integer" }
        },
        "required": ["text"],
        "additionalProperties": false
    });
    let note = DynTool::new("note", schema, gated(ToolPolicy::classified()), move |arguments, _| {
        record.lock().unwrap().push(arguments);
        async { Ok::<_, ToolError>("noted".to_string()) }
    });
    let approver = ScriptedApprover::new().once();
    let mut stage =
        Stage::new(ScriptedModel::new().call("note", json!({ "text": "asked for" })).text("done")).tool(note);
    stage.harness.with_middleware(Editor).with_approver(approver.clone());
    ends(stage.run()).await.unwrap();
    let (requests, seen) = (approver.requests(), seen.lock().unwrap().clone());
    assert_eq!(requests[0].call.arguments, json!({ "text": "edited", "count": 2 }));
    assert!(std::ptr::eq(&*requests[0].call.arguments, &*seen[0]), "one value, shown and run");
    assert_eq!(
        (requests[0].run_id.as_str(), requests[0].depth, requests[0].keys.len()),
        ("run_1", 0, 1),
        "{:?}",
        requests[0]
    );
}

#[tokio::test]
async fn e51_invalid_arguments_are_answered_without_asking() {
    let approver = ScriptedApprover::new();
    let schema = json!({ "type": "object", "required": ["to"] });
    let mail = DynTool::new("mail", schema, gated(ToolPolicy::classified()), |_, _| async {
        Ok::<_, ToolError>("mailed".to_string())
    });
    let calls =
        [call("a", "mail"), ToolCall::from_text("b", "mail", "{"), call("c", "missing"), call("d", "look")];
    let mut stage = Stage::new(ScriptedModel::new().calls(calls).text("done")).tool(mail);
    stage.harness.with_approver(approver.clone());
    ends(stage.run()).await.unwrap();
    assert!(approver.requests().is_empty());
}

#[tokio::test]
async fn a_hook_has_a_call_approved_and_a_deny_of_the_policy_wins() {
    let approver = ScriptedApprover::new().deny("no");
    let boxed = Count::default();
    let sandboxed = ToolPolicy::read_only()
        .with_runtime(ToolRuntimePolicy { sandbox: SandboxMode::Required, ..Default::default() });
    let calls = [ToolCall::new("a", "look", json!({ "q": "tea" })), call("b", "boxed")];
    let mut stage =
        Stage::new(ScriptedModel::new().calls(calls).text("done")).tool(counted("boxed", sandboxed, &boxed));
    stage.harness.with_middleware(Editor).with_approver(approver.clone());
    let run = ends(stage.run()).await.unwrap();
    assert_eq!((stage.looked.get(), boxed.get()), (0, 0));
    let requests = approver.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!((requests[0].call.id.as_str(), requests[0].reason.as_str()), ("a", "a hook wants to know"));
    assert!(texts(&run.messages)[1].contains("it must run in a sandbox"));
}

#[tokio::test]
async fn a_single_call_without_a_model_is_asked_about_too() {
    let approver = ScriptedApprover::new().once().deny("no");
    let (stage, sent) = sending(ScriptedModel::new(), approver);
    for is_error in [false, true] {
        let ctx = stage.harness.context(Default::default(), ());
        let result = ends(stage.harness.call_tool(&(), ctx, call("c", "send"))).await;
        assert_eq!((result.is_error, sent.get()), (is_error, 1));
    }
}

#[tokio::test]
async fn nobody_is_asked_about_a_call_that_can_no_longer_run() {
    let approver = ScriptedApprover::new();
    let calls = [call("a", "fatal"), call("b", "send")];
    let (stage, sent) = sending(ScriptedModel::new().calls(calls), approver.clone());
    let mut stage =
        stage.tool(doing("fatal", ToolPolicy::read_only(), |_| async { Err(ToolError::fatal("lost")) }));
    assert!(matches!(ends(stage.fails()).await, TinyAgentsError::Tool(_)));
    assert_eq!((sent.get(), approver.requests().len()), (0, 0));
    assert!(texts(&stage.transcript())[1].contains("another call of this turn ended the run"));
}
