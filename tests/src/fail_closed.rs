//! A call that cannot run is never run.

use serde_json::json;
use tinyagents::TinyAgentsError;
use tinyagents::harness::context::{ArgumentRepair, RunPolicy};
use tinyagents::harness::event::AgentEvent;
use tinyagents::harness::message::ToolCall;
use tinyagents::harness::middleware::ToolAllowlist;
use tinyagents::harness::policy::{SandboxMode, ToolAccess, ToolPolicy, ToolRuntimePolicy, ToolSideEffects};
use tinyagents::harness::workspace::WorkspaceDescriptor;
use tinyagents::testkit::ScriptedModel;

use crate::fixture::{Count, Stage, doing, results};

#[tokio::test]
async fn v01_a_validation_failure_is_an_answer_or_an_error_as_the_policy_says() {
    let model = || ScriptedModel::new().call("look", json!({})).text("done");
    assert!(Stage::new(model()).run().await.is_ok());
    let error = Stage::new(model()).policy(RunPolicy::default()).fails().await;
    assert!(matches!(error, TinyAgentsError::InvalidArguments { .. }));
}

#[tokio::test]
async fn v02_an_unknown_name_runs_nothing() {
    let names = ["missing", "", " look", "Look", "look ", "look\0", "__proto__"];
    let calls = names.map(|name| ToolCall::new("", name, json!({ "q": "tea" })));
    // With repair, three of them can only mean `look`.
    for (repair, ran) in [(ArgumentRepair::Off, 0), (ArgumentRepair::Observe, 0), (ArgumentRepair::On, 3)] {
        let policy = RunPolicy { repair, ..RunPolicy::recovering() };
        let model = ScriptedModel::new().calls(calls.clone()).text("done");
        let mut stage = Stage::new(model).policy(policy);
        let run = stage.run().await.unwrap();
        assert_eq!(stage.looked.get(), ran);
        let errors = results(&run.messages).iter().filter(|result| result.is_error).count();
        assert_eq!(errors, names.len() - ran as usize);
    }
}

#[tokio::test]
async fn v03_c30_malformed_arguments_never_become_empty_ones() {
    let ran = Count::default();
    let counted = ran.clone();
    let tool = doing("wipe", ToolPolicy::classified(), move |_| {
        counted.add();
        async { Ok(String::new()) }
    });
    let raws = ["{\"a\":", "{", "nul", "{}x", "\"", "{\"a\":1,}"];
    let calls = raws.map(|raw| ToolCall::from_text("", "wipe", raw));
    let model = ScriptedModel::new().calls(calls).call("wipe", json!({})).text("done");
    let mut stage = Stage::new(model).tool(tool);
    let run = stage.run().await.unwrap();
    let errors: Vec<_> = results(&run.messages).iter().map(|result| result.is_error).collect();
    assert_eq!(
        (ran.get(), errors),
        (1, vec![true, true, true, true, true, true, false]),
        "only the last one is whole"
    );
}

#[tokio::test]
async fn v04_error_results_keep_the_id() {
    let calls = [
        ToolCall::new("call_9", "missing", json!({})),
        ToolCall::new("call_7", "look", json!({})),
        ToolCall::from_text("call_8", "look", "{"),
    ];
    let mut stage = Stage::new(ScriptedModel::new().calls(calls).text("done"));
    let run = stage.run().await.unwrap();
    let ids: Vec<_> = results(&run.messages).iter().map(|result| result.tool_call_id.to_string()).collect();
    assert_eq!(ids, ["call_9", "call_7", "call_8"]);
}

#[tokio::test]
async fn v05_an_allowlist_violation_is_recorded_and_answered_as_the_policy_says() {
    let run = |policy: RunPolicy| async move {
        let model = ScriptedModel::new().call("look", json!({ "q": "tea" })).text("done");
        let mut stage = Stage::new(model).policy(policy);
        stage.harness.with_middleware(ToolAllowlist::new(["other"]));
        let run = stage.run().await;
        let violations = stage.events.find(|event| match event {
            AgentEvent::UnknownToolCall { requested_name, .. } => Some(requested_name.clone()),
            _ => None,
        });
        assert_eq!(violations, ["look"]);
        assert_eq!(stage.looked.get(), 0);
        assert!(stage.model.requests()[0].tools.is_empty(), "it was not shown either");
        (run, stage.transcript())
    };
    let (recovered, _) = run(RunPolicy::recovering()).await;
    assert_eq!(recovered.unwrap().answer().as_deref(), Some("done"));
    let (failed, transcript) = run(RunPolicy::default()).await;
    assert!(matches!(failed, Err(TinyAgentsError::ToolNotFound(name)) if name == "look"));
    assert_eq!(results(&transcript).len(), 1, "the transcript is whole");
}

/// Runs one call of a tool with the policy, in a workspace; says whether the body ran and what was answered.
async fn gated(policy: ToolPolicy, workspace: Option<WorkspaceDescriptor>) -> (u32, String) {
    let ran = Count::default();
    let counted = ran.clone();
    let tool = doing("act", policy, move |_| {
        counted.add();
        async { Ok("acted".into()) }
    });
    let mut stage = Stage::new(ScriptedModel::new().call("act", json!({})).text("done")).tool(tool);
    if let Some(workspace) = workspace {
        stage.harness.with_workspace(workspace);
    }
    let run = stage.run().await.unwrap();
    (ran.get(), run.messages[2].text())
}

#[tokio::test]
async fn a_tool_that_needs_a_sandbox_runs_only_in_one() {
    let needs = || {
        ToolPolicy::read_only()
            .with_runtime(ToolRuntimePolicy { sandbox: SandboxMode::Required, ..Default::default() })
    };
    let place = |sandbox| Some(WorkspaceDescriptor::new("/srv").with_sandbox(sandbox));
    for workspace in [None, place(SandboxMode::Inherit), place(SandboxMode::Disabled)] {
        let (ran, text) = gated(needs(), workspace).await;
        assert_eq!(ran, 0);
        assert_eq!(text, "error: denied, and not executed: it must run in a sandbox, and this run has none");
    }
    assert_eq!(gated(needs(), place(SandboxMode::Required)).await, (1, "acted".into()));
}

#[tokio::test]
async fn a_tool_that_needs_approval_is_refused_where_nobody_can_be_asked() {
    let policy = ToolPolicy::classified()
        .with_side_effects(ToolSideEffects { payment: true, ..Default::default() })
        .with_access(ToolAccess { approval_required: true, ..Default::default() });
    let (ran, text) = gated(policy, None).await;
    assert_eq!(ran, 0);
    assert!(text.contains("needs a person's approval"), "{text}");
}
