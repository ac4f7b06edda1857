//! Calls of tools that do not exist, or that the model was not shown.

use serde_json::{Value, json};
use tinyagents::TinyAgentsError;
use tinyagents::harness::context::{LimitKind, RunLimits, RunPolicy, UnknownToolPolicy};
use tinyagents::harness::event::{AgentEvent, PayloadCapture};
use tinyagents::harness::message::ToolCall;
use tinyagents::testkit::ScriptedModel;

use crate::fixture::{Stage, results};

type Unknown = (String, String, Value, String);

fn unknown(stage: &Stage) -> Vec<Unknown> {
    stage.events.find(|event| match event {
        AgentEvent::UnknownToolCall { call_id, requested_name, arguments, recovery } => {
            Some((call_id.to_string(), requested_name.clone(), arguments.clone(), recovery.clone()))
        }
        _ => None,
    })
}

fn with(unknown_tool: UnknownToolPolicy) -> RunPolicy {
    RunPolicy { unknown_tool, ..RunPolicy::default() }
}

#[test]
fn u01_the_policy_is_a_field() {
    let policy = RunPolicy { unknown_tool: UnknownToolPolicy::ReturnToolError, ..RunPolicy::default() };
    assert_eq!(policy.unknown_tool, UnknownToolPolicy::ReturnToolError);
}

#[tokio::test]
async fn u02_by_default_the_run_fails_with_the_name() {
    assert_eq!(RunPolicy::default().unknown_tool, UnknownToolPolicy::Fail);
    let model = ScriptedModel::new().call("missing", json!({}));
    let mut stage = Stage::new(model).policy(RunPolicy::default());
    let error = stage.fails().await;
    assert!(matches!(&error, TinyAgentsError::ToolNotFound(name) if name == "missing"), "{error:?}");
    assert_eq!(results(&stage.transcript()).len(), 1, "the call has its result all the same");
    assert_eq!(unknown(&stage), [("call_1".into(), "missing".into(), json!({}), "fail".into())]);
}

#[tokio::test]
async fn u03_d44_the_answer_names_the_tool_its_arguments_and_the_tools_there_are() {
    let model = ScriptedModel::new().call("loook", json!({ "q": "tea" })).text("done");
    let mut stage = Stage::new(model).policy(with(UnknownToolPolicy::ReturnToolError));
    let run = stage.run().await.unwrap();
    let text = run.messages[2].text();
    assert_eq!(
        text,
        "error: unknown tool `loook`, called with {\"q\":\"tea\"}; nothing was executed; call one of: look"
    );
    assert!(results(&run.messages)[0].is_error);
}

#[tokio::test]
async fn u03_d45_the_answer_is_bounded_and_lists_the_nearest_ten() {
    let long = "x".repeat(100_000);
    let model =
        ScriptedModel::new().call(long.clone(), json!({ "q": long })).call("tol_17", json!({})).text("done");
    let mut stage = Stage::new(model);
    for index in 0..30 {
        let name = format!("tool_{index}");
        let tool = crate::fixture::doing(&name, Default::default(), |_| async { Ok(String::new()) });
        stage.harness.register_tool(tool).unwrap();
    }
    let run = stage.run().await.unwrap();
    let text = run.messages[2].text();
    assert!(text.len() < 3_000, "{} bytes", text.len());
    assert!(text.ends_with("and 21 more"), "{}", &text[text.len() - 200..]);
    let text = run.messages[4].text();
    let listed = text.split_once("call one of: ").unwrap().1.strip_suffix(" and 21 more").unwrap();
    let listed: Vec<_> = listed.split(", ").collect();
    assert_eq!((listed[0], listed.len()), ("tool_17", 10), "{listed:?}");
}

#[tokio::test]
async fn u04_the_model_may_try_again() {
    let model = ScriptedModel::new().call("loook", json!({})).call("look", json!({ "q": "tea" })).text("tea");
    let mut stage = Stage::new(model);
    let run = stage.run().await.unwrap();
    assert_eq!(run.answer().as_deref(), Some("tea"));
    assert_eq!(stage.looked.get(), 1);
    stage.model.assert_complete();
}

#[tokio::test]
async fn u05_a_rewritten_call_runs_with_its_arguments() {
    let model = ScriptedModel::new().call("missing", json!({ "q": "tea" })).text("done");
    let mut stage = Stage::new(model).policy(with(UnknownToolPolicy::Rewrite { tool_name: "look".into() }));
    let run = stage.run().await.unwrap();
    assert_eq!(stage.looked.get(), 1);
    assert_eq!(run.messages[2].text(), "found tea");
    assert_eq!(results(&run.messages)[0].name, "look", "the result has the name of the tool that ran");
    assert_eq!(
        unknown(&stage),
        [("call_1".into(), "missing".into(), json!({ "q": "tea" }), "rewrite:look".into())]
    );
}

#[tokio::test]
async fn u05_a_rewritten_call_is_validated_as_its_new_self() {
    let model = ScriptedModel::new().call("missing", json!({ "other": 1 })).text("done");
    let policy = RunPolicy {
        unknown_tool: UnknownToolPolicy::Rewrite { tool_name: "look".into() },
        ..RunPolicy::recovering()
    };
    let mut stage = Stage::new(model).policy(policy);
    let run = stage.run().await.unwrap();
    assert_eq!(stage.looked.get(), 0);
    assert!(run.messages[2].text().starts_with("error: invalid arguments for `look`"));
}

#[tokio::test]
async fn u06_a_rewrite_to_nothing_is_a_tool_error() {
    let model = ScriptedModel::new().call("missing", json!({})).text("done");
    let mut stage = Stage::new(model).policy(with(UnknownToolPolicy::Rewrite { tool_name: "nope".into() }));
    let run = stage.run().await.unwrap();
    assert!(run.messages[2].text().contains("unknown tool `missing`"));
    assert_eq!(unknown(&stage)[0].3, "tool_error");
}

#[tokio::test]
async fn u07_every_recovery_takes_a_slot_of_the_budget() {
    for unknown_tool in
        [UnknownToolPolicy::ReturnToolError, UnknownToolPolicy::Rewrite { tool_name: "look".into() }]
    {
        let mut model = ScriptedModel::new();
        for _ in 0..10 {
            model = model.call("missing", json!({ "q": "again" }));
        }
        let limits = RunLimits { max_tool_calls: 3, ..RunLimits::default() };
        let mut stage = Stage::new(model).policy(RunPolicy { limits, ..with(unknown_tool) });
        let error = stage.fails().await;
        assert!(matches!(error, TinyAgentsError::LimitReached(LimitKind::ToolCalls)), "{error:?}");
        assert_eq!(unknown(&stage).len(), 3);
        let transcript = stage.transcript();
        let last = results(&transcript);
        assert!(last[3].text().contains("max_tool_calls"), "the fourth call is told why it did not run");
    }
}

#[tokio::test]
async fn u08_u09_every_recovery_is_one_event_with_the_arguments_verbatim() {
    let arguments = json!({ "z": [1.5, null, { "a": "ü" }], "a": 18446744073709551615u64 });
    let calls = ["one", "two"].map(|name| ToolCall::new(name, name, arguments.clone()));
    let mut stage = Stage::new(ScriptedModel::new().calls(calls).text("done"));
    stage.harness.with_payload_capture(PayloadCapture::default());
    stage.run().await.unwrap();
    let seen = unknown(&stage);
    assert_eq!(seen.len(), 2);
    for (seen, name) in seen.iter().zip(["one", "two"]) {
        assert_eq!(seen, &(name.into(), name.into(), arguments.clone(), "tool_error".into()));
        assert_eq!(seen.2.to_string(), arguments.to_string(), "byte for byte, keys in order");
    }
}

#[test]
fn u10_the_labels_are_those_of_the_specification() {
    // `tool_error` and `rewrite:look` are asserted by value in u03 to u06.
    let event = AgentEvent::UnknownToolCall {
        call_id: "c".into(),
        requested_name: "n".into(),
        arguments: json!({}),
        recovery: "rewrite:lookup".into(),
    };
    assert_eq!(
        serde_json::to_value(&event).unwrap(),
        json!({ "kind": "tool.unknown", "call_id": "c", "requested_name": "n", "arguments": {}, "recovery": "rewrite:lookup" })
    );
}
