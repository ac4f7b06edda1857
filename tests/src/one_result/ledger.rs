//! Calls that a reply makes twice.

use serde_json::{Value, json};
use tinyagents::harness::context::{RunLimits, RunPolicy};
use tinyagents::harness::event::{AgentEvent, Effects, FailureKind};
use tinyagents::harness::message::{Message, ToolCall};
use tinyagents::harness::policy::ToolPolicy;
use tinyagents::harness::tool::{DynTool, Tool, ToolError};
use tinyagents::testkit::ScriptedModel;

use super::failures;
use crate::fixture::{Count, Stage, results};

/// Takes any arguments, and says how often it ran.
fn act(count: &Count) -> impl Tool<()> + use<> {
    let count = count.clone();
    let schema = json!({ "type": "object", "description": "Acts.", "additionalProperties": true });
    DynTool::new("act", schema, ToolPolicy::default(), move |_, _| {
        count.add();
        let times = count.get();
        async move { Ok::<_, ToolError>(format!("run {times}")) }
    })
}

fn call(id: &str, arguments: Value) -> ToolCall {
    ToolCall::new(id, "act", arguments)
}

/// Runs the calls in one turn; gives the ids and texts of the results, how often the body ran, and the stage.
async fn turn(calls: Vec<ToolCall>) -> (Vec<(String, String)>, u32, Stage) {
    let count = Count::default();
    let limits = RunLimits { max_tool_calls: u32::MAX, ..RunLimits::default() };
    let mut stage = Stage::new(ScriptedModel::new().calls(calls).text("done"))
        .tool(act(&count))
        .policy(RunPolicy { limits, ..RunPolicy::recovering() });
    let run = stage.run().await.unwrap();
    let asked = run.messages[1].as_assistant().unwrap();
    let asked: Vec<_> = asked.tool_calls.iter().map(|call| call.id.to_string()).collect();
    let results: Vec<_> = results(&run.messages)
        .iter()
        .map(|result| (result.tool_call_id.to_string(), result.text()))
        .collect();
    assert_eq!(asked, results.iter().map(|(id, _)| id.clone()).collect::<Vec<_>>());
    (results, count.get(), stage)
}

#[tokio::test]
async fn a_call_that_a_reply_repeats_whole_is_not_made_again() {
    let call = |arguments| call("x", arguments);
    let calls = vec![
        call(json!({ "a": 1, "b": [{ "c": 2 }] })),
        call(json!({ "b": [{ "c": 2 }], "a": 1 })), // the order of keys says nothing
        call(json!({ "a": 2 })),
        call(json!({ "a": 2 })), // of the second call with this id
    ];
    let (results, ran, stage) = turn(calls).await;
    let echo = |first: &str| {
        format!("error: not executed again: it repeats the call `{first}` of this turn, whose result stands")
    };
    let expected =
        [("x", "run 1".into()), ("x_d2", echo("x")), ("x_d3", "run 2".into()), ("x_d4", echo("x_d3"))];
    assert_eq!(results, expected.map(|(id, text): (&str, String)| (id.to_string(), text)));
    assert_eq!(ran, 2);
    assert_eq!(failures(&stage), [(FailureKind::Duplicate, Effects::None); 2]);
    let started = stage.events.kinds().iter().filter(|kind| **kind == "tool.started").count();
    assert_eq!(started, 2);
}

#[tokio::test]
async fn calls_that_differ_in_anything_are_all_made() {
    let calls = vec![
        call("x", json!({ "a": 1 })),
        call("y", json!({ "a": 1 })),                    // another id
        call("x", json!({ "a": "1" })),                  // other arguments
        call("x", json!({ "a": 1.0 })),                  // another spelling is another call
        ToolCall::new("x", "look", json!({ "q": "1" })), // another tool
        call("", json!({ "a": 1 })),
        call("", json!({ "a": 1 })), // without an id nothing says that it is the same call
    ];
    let (results, ran, stage) = turn(calls).await;
    assert_eq!((results.len(), ran, stage.looked.get()), (7, 6, 1));
    assert_eq!(failures(&stage), []);
}

#[tokio::test]
async fn an_equal_call_of_a_later_turn_is_made_again() {
    let count = Count::default();
    let again = || call("x", json!({ "a": 1 }));
    let model = ScriptedModel::new().calls([again()]).calls([again()]).text("done");
    let mut stage = Stage::new(model).tool(act(&count));
    let run = stage.run().await.unwrap();
    let ids: Vec<_> = results(&run.messages).iter().map(|result| result.tool_call_id.to_string()).collect();
    assert_eq!((count.get(), ids), (2, vec!["x".to_string(), "x_d2".to_string()]));
}

#[tokio::test]
async fn a_repetition_of_a_call_that_was_refused_is_not_made_either() {
    let bad = || ToolCall::new("x", "look", json!({ "q": 5 }));
    let (results, _, stage) = turn(vec![bad(), bad()]).await;
    assert!(results[1].1.contains("it repeats the call `x`"), "{results:?}");
    let kinds: Vec<_> = failures(&stage).into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, [FailureKind::InvalidArguments, FailureKind::Duplicate]);
    assert_eq!(stage.looked.get(), 0);
}

/// A thousand calls with one id, every second one a repetition: each has its own id and its own result.
#[tokio::test]
async fn a_thousand_calls_with_one_id_are_told_apart() {
    let calls = (0..1_000).map(|at| call("x", json!({ "n": at / 2 }))).collect();
    let (results, ran, stage) = turn(calls).await;
    let ids: std::collections::HashSet<_> = results.iter().map(|(id, _)| id).collect();
    assert_eq!((results.len(), ids.len(), ran), (1_000, 1_000, 500));
    assert_eq!(failures(&stage).len(), 500);
    let text = &results[999].1;
    assert!(text.contains("it repeats the call `x_d999`"), "{text}");
}

#[tokio::test]
async fn an_echo_takes_nothing_from_the_budget() {
    let limits = RunLimits { max_tool_calls: 2, ..RunLimits::default() };
    let same = || ToolCall::new("x", "look", json!({ "q": "tea" }));
    let other = ToolCall::new("y", "look", json!({ "q": "milk" }));
    let mut stage = Stage::new(ScriptedModel::new().calls([same(), same(), same(), other]).text("done"))
        .policy(RunPolicy { limits, ..RunPolicy::recovering() });
    let run = stage.run().await.unwrap();
    assert_eq!((stage.looked.get(), run.messages[5].text().as_str()), (2, "found milk"));
    let ended: Vec<_> = stage.events.find(|event| match event {
        AgentEvent::ToolCompleted { call_id, .. } => Some(call_id.to_string()),
        _ => None,
    });
    assert_eq!(ended, ["x", "y"]);
    assert!(matches!(run.messages.last(), Some(Message::Assistant(_))));
}
