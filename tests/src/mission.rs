//! What the project is for: a function, an attribute, a tool.

use serde_json::json;
use tinyagents::harness::policy::SandboxMode;
use tinyagents::harness::runtime::AgentHarness;
use tinyagents::harness::tool::{ErrorKind, ToolError};
use tinyagents::prelude::*;
use tinyagents::testkit::ScriptedModel;

use crate::fixture::{Stage, results};

/// Add two numbers.
#[tool(read_only, sandbox = "required")]
async fn add(b: i64, a: i64, #[inject] run: RunId) -> i64 {
    let _ = run;
    a + b
}

#[tokio::test]
async fn c01_c05_an_annotated_function_is_a_tool_that_the_loop_runs() {
    let model = ScriptedModel::new().call("add", json!({ "a": 2, "b": 3 })).text("five");
    let mut harness: AgentHarness<()> = AgentHarness::new();
    harness.register_model("default", model).unwrap().register_tool(Add).unwrap();
    harness.with_workspace(WorkspaceDescriptor::new("/srv").with_sandbox(SandboxMode::Required));
    let run = harness.invoke(&(), vec![Message::user("2 + 3?")]).await.unwrap();
    assert_eq!(run.messages[2].text(), "5");
    assert_eq!(add(3, 2, "run".into()).await, 5, "the function itself is as it was");
}

#[test]
fn c02_the_schema_leaves_out_what_is_injected() {
    let keys: Vec<_> = Add::spec().input_schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["b", "a"]);
}

#[test]
fn c03_the_parameter_order_is_generated() {
    assert_eq!(Add::PARAMETERS, ["b", "a"]);
}

#[test]
fn c04_c06_the_policy_is_generated() {
    let policy = Add::policy();
    assert!(policy.classified && policy.side_effects.read_only);
    assert_eq!(policy.runtime.sandbox, SandboxMode::Required);
    assert_eq!(Tool::<()>::policy(&Add), policy);
}

#[test]
fn c07_diagnostics_are_checked() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../ui-tests/fail");
    let topics: Vec<_> = std::fs::read_dir(dir).unwrap().map(|topic| topic.unwrap().path()).collect();
    assert!(topics.len() >= 5, "{topics:?}");
}

#[tokio::test]
async fn s13_errors_are_told_apart() {
    let kinds = [
        (ToolError::retry_with("x"), ErrorKind::Retry),
        (ToolError::failed("x"), ErrorKind::Failed),
        (ToolError::transient("x"), ErrorKind::Transient),
        (ToolError::fatal("x"), ErrorKind::Fatal),
        (ToolError::opaque("x"), ErrorKind::Opaque),
    ];
    for (error, kind) in kinds {
        assert_eq!(error.kind(), kind);
        assert_eq!(
            (error.is_fatal(), error.is_transient()),
            (kind == ErrorKind::Fatal, kind == ErrorKind::Transient)
        );
    }
    assert_eq!(ToolError::failed("").for_model("c"), "the tool failed without saying why");
    let repaired = crate::fixture::doing("act", ToolPolicy::default(), |_| async {
        Err(ToolError::retry_with("use another word"))
    });
    let mut stage = Stage::new(ScriptedModel::new().call("act", json!({})).text("done")).tool(repaired);
    let run = stage.run().await.unwrap();
    assert_eq!(results(&run.messages)[0].text(), "error: use another word");
}

#[tokio::test]
async fn settings_and_limits_of_one_run() {
    let model = ScriptedModel::new().text("one").text("two");
    let mut harness: AgentHarness<()> = AgentHarness::new();
    harness.register_model("default", model.clone()).unwrap().with_system("Be brief.");
    let go = || vec![Message::user("go")];
    harness.invoke(&(), go()).await.unwrap();
    let settings = tinyagents::harness::model::ModelSettings { seed: Some(7), ..Default::default() };
    let config = RunConfig { settings: Some(settings.clone()), ..RunConfig::default() };
    harness.invoke_in_context(&(), RunContext::new(config, ()), go()).await.unwrap();
    let asked: Vec<_> = model.requests().into_iter().map(|request| request.settings).collect();
    assert_eq!(asked[0].system.as_deref(), Some("Be brief."));
    assert_eq!(asked[1], settings);

    let config = RunConfig { depth: 4, ..RunConfig::default() };
    let error = harness.invoke_in_context(&(), RunContext::new(config, ()), go()).await.unwrap_err();
    assert!(error.to_string().contains("max_depth"), "{error}");
}

#[tokio::test]
async fn a_run_uses_the_model_that_its_configuration_names() {
    let (first, second) = (ScriptedModel::new().text("first"), ScriptedModel::new().text("second"));
    let mut harness: AgentHarness<()> = AgentHarness::new();
    harness.register_model("one", first).unwrap().register_model("two", second.clone()).unwrap();
    assert!(harness.register_model("two", second).is_err());
    let ask = |model: Option<&str>| {
        let config = RunConfig { model: model.map(Into::into), ..RunConfig::default() };
        harness.invoke_in_context(&(), RunContext::new(config, ()), vec![Message::user("go")])
    };
    assert_eq!(ask(None).await.unwrap().answer().as_deref(), Some("first"));
    assert_eq!(ask(Some("two")).await.unwrap().answer().as_deref(), Some("second"));
    assert!(ask(Some("three")).await.unwrap_err().to_string().contains("`three`"));
}
