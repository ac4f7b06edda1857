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

/// The verdict of a schema on a value, and how long it took.
fn judged(schema: &JsonSchema, value: Value) -> (Result<(), Vec<ArgumentProblem>>, Duration) {
    let validator = compiled(schema, Validation::Full).unwrap();
    let start = Instant::now();
    (on_small_stack(move || validator.validate(&value)), start.elapsed())
}

#[test]
fn full_validation_refuses_what_checks_one_value_very_often() {
    let twice = |keyword: &'static str| move |next: Value| json!({ keyword: [next, next] });
    for keyword in ["anyOf", "allOf", "oneOf"] {
        for (levels, fits) in [(5, true), (9, true), (12, false), (30, false), (1_000, false)] {
            let schema = definitions(levels, twice(keyword), json!({ "type": "string" }));
            if fits {
                let (verdict, time) = judged(&kept(schema), json!({ "a": 5 }));
                println!("{keyword}, {levels} levels: {time:?}");
                assert_eq!(verdict.unwrap_err()[0].path, "/a");
            } else {
                let error = refused(keyword, schema, Validation::Full);
                assert!(error.reason.contains("one value"), "{error}");
            }
        }
    }
    // Each reference within `properties` goes down in the value, where the same is found again.
    let schema = definitions(25, |next| json!({ "properties": { "l": next, "r": next } }), json!(false));
    let (verdict, time) =
        judged(&kept(schema), json!({ "a": nested(24, json!({ "l": 1 }), |inner| entry("r", inner)) }));
    println!("properties: {time:?}");
    assert_eq!(verdict.unwrap_err().len(), 1);
}

#[test]
fn full_validation_counts_the_checks_of_a_value_before_it_makes_them() {
    let next = json!({ "$ref": "#/$defs/n" });
    let arm = json!({ "type": "object", "properties": { "n": next } });
    let recursive = |definition: Value| json!({ "type": "object", "properties": { "a": next }, "$defs": { "n": definition } });
    let unevaluated = json!({
        "anyOf": [{ "type": "string" }, { "properties": { "n": next } }],
        "unevaluatedProperties": false
    });
    let conditional =
        json!({ "if": arm, "then": { "properties": { "n": next } }, "else": { "type": "string" } });
    let schemas = [
        ("one way down", recursive(arm.clone()), true),
        ("two ways down", recursive(json!({ "anyOf": [arm, arm, { "type": "string" }] })), false),
        ("each way", recursive(json!({ "allOf": [arm, arm] })), false),
        ("none of them", recursive(json!({ "not": { "anyOf": [arm, arm] } })), false),
        ("under a condition", recursive(conditional), false),
        ("unevaluated", recursive(unevaluated), false),
    ];
    for (name, schema, at_any_depth) in schemas {
        let kept = kept(schema);
        for levels in [1, 4, 12, 20, 60, 120] {
            for last in [json!("end"), json!(5)] {
                let value = entry("a", nested(levels, last, |inner| entry("n", inner)));
                let (verdict, time) = judged(&kept, value);
                let problems = verdict.err().unwrap_or_default();
                if problems.iter().any(|problem| problem.expected.starts_with("less")) {
                    assert!(!at_any_depth && levels > 4, "{name}, {levels}");
                    continue;
                }
                println!("{name}, {levels} levels: {time:?}, {} problems", problems.len());
                assert!(levels < 60 || at_any_depth, "{name}, {levels} levels: taken");
            }
        }
    }
}

#[test]
fn full_validation_bounds_nested_unevaluated_parts() {
    let level = |next: Value| json!({ "allOf": [next], "unevaluatedProperties": { "type": "integer" } });
    let last = json!({ "type": "object", "properties": { "x": true } });
    for levels in [2, 5, 10, 20, 30] {
        let schema = definitions(levels, level, last.clone());
        let value = json!({ "a": { "x": 1, "y": 1, "z": "no" } });
        let (verdict, time) = judged(&kept(schema), value);
        let problems = verdict.unwrap_err();
        println!("{levels} levels: {time:?}: {}", problems[0]);
        let is_judged = !problems[0].expected.starts_with("less");
        assert_eq!(is_judged, levels <= 5, "{problems:?}");
        assert!(!is_judged || problems[0].path == "/a/z", "{problems:?}");
    }
}
