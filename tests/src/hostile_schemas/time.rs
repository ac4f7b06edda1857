//! Schemas that ask for very many checks of one value.

use tinyagents::harness::context::ArgumentRepair;
use tinyagents::harness::message::{Message, ToolCall};
use tinyagents::prelude::*;
use tinyagents::testkit::ScriptedModel;

use super::*;
use crate::fixture::results;

/// Definitions of which each is what `to` makes of a reference to the next; the property `a` is the first.
fn definitions(levels: usize, to: impl Fn(Value) -> Value, last: Value) -> Value {
    let mut all: Map<String, Value> = (0..levels)
        .map(|index| (format!("d{index}"), to(json!({ "$ref": format!("#/$defs/d{}", index + 1) }))))
        .collect();
    all.insert(format!("d{levels}"), last);
    json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/d0" } }, "$defs": all })
}

/// What a call of a tool with that schema gives: whether it ran, and the text.
fn called(schema: Value, validation: Validation, arguments: Value) -> (bool, String) {
    on_small_stack(move || {
        let body = |_: Arguments, _| async { Ok::<_, ToolError>("done") };
        let tool = DynTool::new("outside", schema, ToolPolicy::read_only(), body).with_validation(validation);
        let mut harness: AgentHarness<()> = AgentHarness::new();
        harness.register_tool(tool).unwrap();
        harness.with_policy(RunPolicy { repair: ArgumentRepair::On, ..RunPolicy::recovering() });
        let calls = vec![ToolCall::new("c0", "outside", arguments)];
        harness.register_model("default", ScriptedModel::new().calls(calls).text("done")).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let run = runtime.block_on(harness.invoke(&(), vec![Message::user("go")])).unwrap();
        let results = results(&run.messages);
        (!results[0].is_error, results[0].text().to_string())
    })
}

#[test]
fn declared_alternatives_are_checked_within_the_bound_of_steps() {
    let start = Instant::now();
    let schema = definitions(30, |next| json!({ "anyOf": [next, next] }), json!({ "type": "string" }));
    let validator = compiled(&kept(schema), Validation::Declared).unwrap();
    let problems = on_small_stack(move || validator.validate(&json!({ "a": 5 }))).unwrap_err();
    println!("all steps taken in {:?}: {}", start.elapsed(), problems[0]);
    assert_eq!(problems.len(), 1);
}

#[test]
fn nulls_are_taken_out_within_the_bound_of_steps() {
    let next = json!({ "$ref": "#/$defs/level" });
    let arm = json!({ "type": "object", "properties": { "x": { "type": "string" }, "next": next } });
    let schema = json!({
        "type": "object",
        "properties": { "a": { "$ref": "#/$defs/level" } },
        "$defs": { "level": { "anyOf": [arm, arm, { "type": "string" }] } }
    });
    let value = |levels: usize, last: Value| json!({ "a": nested(levels, last, |inner| json!({ "x": null, "next": inner })) });
    for (levels, last, runs) in [(3, json!("end"), true), (3, json!(5), false), (40, json!(5), false)] {
        let start = Instant::now();
        let (ran, text) = called(schema.clone(), Validation::Declared, value(levels, last));
        println!("{levels} levels, {:?}: {}", start.elapsed(), text.lines().next().unwrap_or_default());
        assert_eq!(ran, runs, "{text}");
        assert!(text.len() < 10_000);
    }
}
