//! Arguments that are no JSON at all, and arguments that break the tool's schema.

use serde_json::{Value, json};
use tinyagents::TinyAgentsError;
use tinyagents::harness::context::{InvalidArgsPolicy, LimitKind, RunLimits, RunPolicy};
use tinyagents::harness::event::{AgentEvent, PayloadCapture};
use tinyagents::harness::message::{ToolCall, parse_arguments};
use tinyagents::harness::policy::ToolPolicy;
use tinyagents::harness::tool::{DynTool, ToolError};
use tinyagents::testkit::ScriptedModel;

use crate::fixture::{Stage, assert_whole, results};

type Invalid = (String, String, Value, String, String);

fn invalid(stage: &Stage) -> Vec<Invalid> {
    stage.events.find(|event| match event {
        AgentEvent::InvalidToolArgs { call_id, tool_name, arguments, error, recovery } => {
            Some((call_id.to_string(), tool_name.clone(), arguments.clone(), error.clone(), recovery.clone()))
        }
        _ => None,
    })
}

fn malformed(id: &str) -> ToolCall {
    ToolCall::from_text(id, "look", r#"{"q": "te"#)
}

#[tokio::test]
async fn a01_by_default_the_run_fails_and_the_body_does_not_run() {
    assert_eq!(RunPolicy::default().invalid_args, InvalidArgsPolicy::Fail);
    let model = ScriptedModel::new().call("look", json!({ "q": 5 }));
    let mut stage = Stage::new(model).policy(RunPolicy::default());
    match stage.fails().await {
        TinyAgentsError::InvalidArguments { tool, problems } => {
            assert_eq!(tool, "look");
            assert_eq!(problems[0].to_string(), "`q`: expected string, got integer 5");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(stage.looked.get(), 0);
    assert_eq!(results(&stage.transcript()).len(), 1);
    assert_eq!(invalid(&stage)[0].4, "fail");
}

#[tokio::test]
async fn a02_the_answer_has_every_problem_and_the_schema() {
    let model = ScriptedModel::new().call("look", json!({ "limit": "many", "quest": 1 })).text("done");
    let mut stage = Stage::new(model);
    let run = stage.run().await.unwrap();
    let text = run.messages[2].text();
    let schema = stage.harness.tools().spec("look").unwrap().input_schema.to_string();
    assert_eq!(
        text,
        format!(
            "error: invalid arguments for `look`; nothing was executed:\n\
             - `q`: expected string, got nothing\n\
             - `limit`: expected integer, got string \"many\"\n\
             - `quest`: expected one of `q`, `limit`, got unknown argument `quest`\n\
             The arguments must fit this schema: {schema}"
        )
    );
    assert_eq!(stage.looked.get(), 0);
}

#[tokio::test]
async fn a02_a_tool_is_called_by_the_name_that_the_model_was_shown() {
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
    let tool = DynTool::new("files.read", schema, ToolPolicy::default(), |_, _| async {
        Ok::<_, ToolError>("ran".to_string())
    });
    let mut stage = Stage::new(ScriptedModel::new().call("files_read", json!({ "n": "x" })).text("done"));
    stage.harness.register_external(tool).unwrap();
    let run = stage.run().await.unwrap();
    let told = results(&run.messages)[0].text();
    assert!(told.starts_with("error: invalid arguments for `files_read`; "), "{told}");
    assert_eq!(invalid(&stage)[0].1, "files.read", "events have the tool's own name");
}

#[test]
fn a03_text_that_is_no_json_is_kept_and_explained() {
    for raw in [r#"{"q": "te"#, "{'q': 'tea'}", "q=tea", r#"{"q": 1} {"q": 2}"#, "{\"q\": NaN}", "[1, 2"] {
        let call = ToolCall::from_text("c", "look", raw);
        assert_eq!(call.arguments, Value::String(raw.into()), "kept verbatim");
        assert!(call.invalid.is_some(), "{raw}");
    }
    assert!(parse_arguments(r#"{"q": "te"#).unwrap_err().to_string().contains("in the middle"));
}

#[test]
fn a03_a_key_that_stands_twice_is_one_value_or_none() {
    assert_eq!(parse_arguments(r#"{"q": 1, "q": 1}"#).unwrap(), json!({ "q": 1 }));
    let error = parse_arguments(r#"{"a": {"q": 1, "q": 2}}"#).unwrap_err();
    assert!(error.to_string().contains("key `q` appears twice"), "{error}");
}

#[tokio::test]
async fn a04_c31_a_malformed_call_never_ends_a_run() {
    for invalid_args in [InvalidArgsPolicy::Fail, InvalidArgsPolicy::ReturnToolError] {
        let model =
            ScriptedModel::new().calls([malformed("c1")]).call("look", json!({ "q": "tea" })).text("tea");
        let mut stage = Stage::new(model).policy(RunPolicy { invalid_args, ..RunPolicy::default() });
        let run = stage.run().await.unwrap();
        assert_eq!(run.answer().as_deref(), Some("tea"));
        assert!(run.messages[2].text().contains("in the middle of a JSON value"));
        assert_eq!(stage.looked.get(), 1);
    }
}

#[tokio::test]
async fn a05_the_event_has_five_fields() {
    let mut stage = Stage::new(ScriptedModel::new().calls([malformed("c1")]).text("done"));
    stage.harness.with_payload_capture(PayloadCapture::default());
    stage.run().await.unwrap();
    let error = malformed("c1").invalid.unwrap();
    assert_eq!(
        invalid(&stage),
        [("c1".into(), "look".into(), json!("{\"q\": \"te"), error, "tool_error".into())]
    );
}

#[tokio::test]
async fn a05_schema_errors_are_recorded_alike() {
    let mut stage = Stage::new(ScriptedModel::new().call("look", json!({ "q": 5 })).text("done"));
    stage.run().await.unwrap();
    assert_eq!(
        invalid(&stage),
        [(
            "call_1".into(),
            "look".into(),
            json!({ "q": 5 }),
            "`q`: expected string, got integer 5".into(),
            "tool_error".into()
        )]
    );
}

#[tokio::test]
async fn a06_every_recovery_takes_a_slot_of_the_budget() {
    let mut model = ScriptedModel::new();
    for index in 0..10 {
        model = model.calls([malformed(&format!("c{index}"))]);
    }
    let limits = RunLimits { max_tool_calls: 4, ..RunLimits::default() };
    let mut stage = Stage::new(model).policy(RunPolicy { limits, ..RunPolicy::default() });
    assert!(matches!(stage.fails().await, TinyAgentsError::LimitReached(LimitKind::ToolCalls)));
    assert_eq!(invalid(&stage).len(), 4);
}

#[tokio::test]
async fn a06_schema_errors_take_a_slot_too() {
    let model = (0..10).fold(ScriptedModel::new(), |model, _| model.call("look", json!({ "q": 5 })));
    let limits = RunLimits { max_tool_calls: 4, ..RunLimits::default() };
    let mut stage = Stage::new(model).policy(RunPolicy { limits, ..RunPolicy::recovering() });
    assert!(matches!(stage.fails().await, TinyAgentsError::LimitReached(LimitKind::ToolCalls)));
    assert_eq!((invalid(&stage).len(), stage.looked.get()), (4, 0));
}

#[tokio::test]
async fn a07_every_malformed_call_has_its_result() {
    let calls = [malformed("c1"), ToolCall::new("c2", "look", json!({ "q": "tea" })), malformed("c3")];
    let mut stage = Stage::new(ScriptedModel::new().calls(calls).text("done"));
    let run = stage.run().await.unwrap();
    assert_whole(&run.messages);
    let errors: Vec<_> = results(&run.messages).iter().map(|result| result.is_error).collect();
    assert_eq!(errors, [true, false, true]);
}

#[test]
fn a08_the_provider_says_how_it_makes_invalid_calls() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tinyagents/docs/openai.md");
    let source = std::fs::read_to_string(path).unwrap();
    assert!(source.contains("# Arguments that are not JSON"));
}
