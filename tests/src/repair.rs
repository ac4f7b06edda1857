//! Repair of arguments: each step, what is never done, and what is recorded of it.

mod properties;

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tinyagents::async_trait;
use tinyagents::harness::context::{ArgumentRepair, ExtraArgs, RunPolicy};
use tinyagents::harness::event::{AgentEvent, RepairRule};
use tinyagents::harness::message::ToolCall;
use tinyagents::harness::policy::{ToolPolicy, ToolRuntimePolicy};
use tinyagents::harness::tool::{Tool, ToolOutput, ToolResult, ToolRuntime, ToolSpec, Validation};
use tinyagents::testkit::ScriptedModel;

use crate::fixture::{Stage, results};

/// What became of one call: the arguments that the body got or the error, and the steps.
pub struct Outcome {
    pub got: Result<Value, String>,
    pub steps: Vec<(String, RepairRule, bool)>,
}

impl Outcome {
    #[track_caller]
    pub fn became(self, wanted: Value, steps: &[(&str, RepairRule)]) {
        assert_eq!(self.got, Ok(wanted));
        let wanted: Vec<_> = steps.iter().map(|(path, rule)| (path.to_string(), *rule, true)).collect();
        assert_eq!(self.steps, wanted);
    }

    #[track_caller]
    pub fn refused(self) -> String {
        assert_eq!(self.steps, [], "a refused call was not repaired");
        self.got.unwrap_err()
    }
}

/// Keeps the arguments that it was called with.
struct Keeps {
    spec: ToolSpec,
    extra_args: Option<ExtraArgs>,
    got: Arc<Mutex<Option<Value>>>,
}

#[async_trait]
impl Tool<()> for Keeps {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    fn policy(&self) -> ToolPolicy {
        let runtime = ToolRuntimePolicy { extra_args: self.extra_args, ..ToolRuntimePolicy::default() };
        let redact = vec!["token".into(), "in.token".into()];
        ToolPolicy { redact, ..ToolPolicy::read_only().with_runtime(runtime) }
    }

    async fn call(&self, _: &(), _: ToolRuntime<'_>, call: ToolCall) -> tinyagents::Result<ToolResult> {
        *self.got.lock().unwrap() = Some(call.arguments.to_value());
        Ok(ToolOutput::text("done").into_result(&call))
    }
}

pub fn policy(repair: ArgumentRepair) -> RunPolicy {
    RunPolicy { repair, ..RunPolicy::recovering() }
}

/// Calls a tool of this schema once.
pub async fn call_as(policy: RunPolicy, schema: &Value, validation: Validation, call: ToolCall) -> Outcome {
    call_by(policy, schema, validation, None, call).await
}

/// Calls a tool of this schema, and with this word for fields that no parameter has, once.
async fn call_by(
    policy: RunPolicy,
    schema: &Value,
    validation: Validation,
    extra_args: Option<ExtraArgs>,
    call: ToolCall,
) -> Outcome {
    let got = Arc::new(Mutex::new(None));
    let mut spec = ToolSpec::new("t", "Keeps what it gets.", schema.clone());
    spec.validation = validation;
    let tool = Keeps { spec, extra_args, got: Arc::clone(&got) };
    let mut stage = Stage::new(ScriptedModel::new().calls([call]).text("end")).policy(policy).tool(tool);
    let run = stage.run().await.unwrap();
    let steps = stage.events.find(|event| match event {
        AgentEvent::ArgumentsRepaired { path, rule, applied } => Some((path.clone(), *rule, *applied)),
        _ => None,
    });
    let result = results(&run.messages)[0];
    let got = got.lock().unwrap().take();
    assert_eq!(result.is_error, got.is_none(), "{}", result.text());
    Outcome { got: got.ok_or_else(|| result.text()), steps }
}

/// The same with a schema of properties, none of them required.
async fn with(properties: Value, arguments: Value) -> Outcome {
    let schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    let call = ToolCall::new("c", "t", arguments);
    call_as(policy(ArgumentRepair::On), &schema, Validation::Declared, call).await
}

#[tokio::test]
async fn a_valid_call_is_never_changed() {
    let properties = json!({
        "n": { "type": ["integer", "string"] },
        "s": { "type": "string" },
        "l": { "type": ["array", "string"] },
        "e": { "enum": ["a", "A", "5"] },
        "x": {}
    });
    for arguments in [
        json!({ "n": "5", "s": "{\"k\":1}", "l": "[1]", "e": "A", "x": null }),
        json!({ "s": "true", "e": "5", "x": "null" }),
        json!({ "s": " padded ", "n": "nil" }),
        json!({}),
    ] {
        with(properties.clone(), arguments.clone()).await.became(arguments, &[]);
    }
}

#[tokio::test]
async fn c19_texts_of_numbers_and_booleans_are_read_exactly() {
    use RepairRule::{Boolean, Integer, Number};
    let int = json!({ "v": { "type": "integer" } });
    for (text, value) in [
        ("200000", json!(200_000)),
        ("4.0", json!(4)),
        (" -7 ", json!(-7)),
        ("9007199254740993", json!(9_007_199_254_740_993_i64)),
        ("18446744073709551615", json!(u64::MAX)),
        ("-9223372036854775808", json!(i64::MIN)),
        ("9007199254740993.000", json!(9_007_199_254_740_993_i64)),
    ] {
        with(int.clone(), json!({ "v": text })).await.became(json!({ "v": value }), &[("/v", Integer)]);
    }
    for text in
        ["4.5", "1e3", "", "five", "0x10", "1_000", "1,000", "18446744073709551616", "+5", "05", "4.", "NaN"]
    {
        let error = with(int.clone(), json!({ "v": text })).await.refused();
        assert!(error.contains("`v`: expected integer, got string"), "{text}: {error}");
    }
    let number = json!({ "v": { "type": "number" } });
    with(number.clone(), json!({ "v": "4.5" })).await.became(json!({ "v": 4.5 }), &[("/v", Number)]);
    with(number.clone(), json!({ "v": "4" })).await.became(json!({ "v": 4 }), &[("/v", Number)]);
    for text in ["1e999", "123456789012345678901234567890", "Infinity", "nan", "1/2"] {
        with(number.clone(), json!({ "v": text })).await.refused();
    }
    let boolean = json!({ "v": { "type": "boolean" } });
    with(boolean.clone(), json!({ "v": "true" })).await.became(json!({ "v": true }), &[("/v", Boolean)]);
    with(boolean.clone(), json!({ "v": "False" })).await.became(json!({ "v": false }), &[("/v", Boolean)]);
    for text in ["yes", "1", "", "t"] {
        with(boolean.clone(), json!({ "v": text })).await.refused();
    }
}

#[tokio::test]
async fn a_number_is_never_made_a_text_and_a_fraction_never_an_integer() {
    with(json!({ "v": { "type": "string" } }), json!({ "v": 5 })).await.refused();
    with(json!({ "v": { "type": "integer" } }), json!({ "v": 2.5 })).await.refused();
    with(json!({ "v": { "type": "boolean" } }), json!({ "v": 1 })).await.refused();
}

#[tokio::test]
async fn a_bound_holds_for_what_was_repaired() {
    let bounded = json!({ "v": { "type": "integer", "minimum": 1, "maximum": 9 } });
    with(bounded.clone(), json!({ "v": "9" }))
        .await
        .became(json!({ "v": 9 }), &[("/v", RepairRule::Integer)]);
    let error = with(bounded, json!({ "v": "10" })).await.refused();
    assert!(error.contains("between 1 and 9"), "{error}");
}

#[tokio::test]
async fn c17_c18_objects_and_lists_in_texts_are_unwrapped_where_wanted() {
    use RepairRule::{Integer, Unwrapped};
    let nested = json!({
        "o": { "type": "object", "properties": { "n": { "type": "integer" } } },
        "l": { "type": "array", "items": { "type": "integer" } },
        "s": { "type": "string" }
    });
    with(nested.clone(), json!({ "o": "{\"n\": \"5\"}", "l": "[1, \"2\"]", "s": "{\"n\":1}" })).await.became(
        json!({ "o": { "n": 5 }, "l": [1, 2], "s": "{\"n\":1}" }),
        &[("/o", Unwrapped), ("/o/n", Integer), ("/l", Unwrapped), ("/l/1", Integer)],
    );
    with(nested.clone(), json!("{\"o\": {\"n\": 1}}"))
        .await
        .became(json!({ "o": { "n": 1 } }), &[("", Unwrapped)]);
    for broken in ["[1, 2", "{\"n\": 1", "[1] [2]", "[1, 2]]", "{'n': 1}", "{\"n\": 1, \"n\": 2}"] {
        with(nested.clone(), json!({ "o": broken })).await.refused();
        with(nested.clone(), json!({ "l": broken })).await.refused();
    }
    for crossed in [json!({ "o": "[1]" }), json!({ "l": "{\"n\": 1}" })] {
        with(nested.clone(), crossed).await.refused();
    }
}

#[tokio::test]
async fn a_single_value_becomes_a_list_of_one() {
    use RepairRule::{Integer, SingleItem};
    let lists = json!({
        "s": { "type": "array", "items": { "type": "string" } },
        "n": { "type": "array", "items": { "type": "integer" } },
        "o": { "type": "array", "items": { "type": "object", "properties": { "a": { "type": "string" } } } }
    });
    with(lists.clone(), json!({ "s": "light", "n": "5", "o": { "a": "x" } })).await.became(
        json!({ "s": ["light"], "n": [5], "o": [{ "a": "x" }] }),
        &[("/s", SingleItem), ("/n", SingleItem), ("/n/0", Integer), ("/o", SingleItem)],
    );
    // A blank or a broken list is no item that anybody meant.
    for text in ["", "  ", "[\"a\"", "['a', 'b']", "{a}"] {
        with(lists.clone(), json!({ "s": text })).await.refused();
    }
    with(lists.clone(), json!({ "s": 5 })).await.refused();
    with(lists, json!({ "o": { "a": 5 } })).await.refused();
}

#[tokio::test]
async fn c24_null_is_left_out_whatever_the_setting_also_in_nested_objects() {
    let schema = json!({
        "type": "object",
        "properties": {
            "a": { "type": "integer" },
            "in": { "type": "object", "properties": { "b": { "type": "string" }, "c": { "type": ["string", "null"] } } },
            "list": { "type": "array", "items": { "type": "object", "properties": { "d": { "type": "integer" } } } }
        },
        "required": ["in"]
    });
    let arguments = json!({ "a": null, "in": { "b": null, "c": null }, "list": [{ "d": null }, { "d": 1 }] });
    let wanted = json!({ "in": { "c": null }, "list": [{}, { "d": 1 }] });
    for repair in [ArgumentRepair::Off, ArgumentRepair::Observe, ArgumentRepair::On] {
        let call = ToolCall::new("c", "t", arguments.clone());
        call_as(policy(repair), &schema, Validation::Subset, call).await.became(wanted.clone(), &[]);
        let call = ToolCall::new("c", "t", json!({ "in": null }));
        call_as(policy(repair), &schema, Validation::Subset, call).await.refused();
    }
}

#[tokio::test]
async fn c25_values_and_names_are_matched_only_when_one_fits() {
    use RepairRule::{EnumValue, FieldName};
    let properties = json!({
        "unit": { "type": "string", "enum": ["celsius", "kelvin", "very_hot"] },
        "mode": { "type": "string", "enum": ["Fast", "fast"] },
        "max_bytes": { "type": "integer" },
        "maxItems": { "type": "integer" }
    });
    with(properties.clone(), json!({ "unit": " Celsius" }))
        .await
        .became(json!({ "unit": "celsius" }), &[("/unit", EnumValue)]);
    with(properties.clone(), json!({ "unit": "Very-Hot" }))
        .await
        .became(json!({ "unit": "very_hot" }), &[("/unit", EnumValue)]);
    with(properties.clone(), json!({ "Max-Bytes": 5, "max_items": 2 })).await.became(
        json!({ "max_bytes": 5, "maxItems": 2 }),
        &[("/Max-Bytes", FieldName), ("/max_items", FieldName)],
    );
    for arguments in [
        json!({ "unit": "celcius" }),             // a guess
        json!({ "mode": "FAST" }),                // two candidates
        json!({ "maxBytes": 1, "max-bytes": 1 }), // two claimants
        json!({ "max_bytes": 1, "maxBytes": 1 }), // taken
        json!({ "bytes": 1 }),                    // a guess
        json!({ "_": 1 }),                        // nothing to go by
    ] {
        with(properties.clone(), arguments).await.refused();
    }
}

#[tokio::test]
async fn of_several_alternatives_only_one_that_alone_can_be_meant_is_taken() {
    let number_or_list = json!({ "v": { "anyOf": [{ "type": "integer" }, { "type": "null" }] } });
    with(number_or_list, json!({ "v": "5" })).await.became(json!({ "v": 5 }), &[("/v", RepairRule::Integer)]);
    let ambiguous = json!({ "v": { "anyOf": [
        { "type": "integer" },
        { "type": "array", "items": { "type": "integer" } }
    ] } });
    with(ambiguous, json!({ "v": "5" })).await.refused();
    let documented = json!({ "v": { "oneOf": [
        { "type": "string", "const": "hot" },
        { "type": "string", "const": "cold" }
    ] } });
    with(documented, json!({ "v": "Hot" }))
        .await
        .became(json!({ "v": "hot" }), &[("/v", RepairRule::EnumValue)]);
}

#[tokio::test]
async fn alternatives_within_alternatives_end() {
    let mut value = json!("x");
    for _ in 0..8 {
        value = json!({ "l": value, "r": "y" });
    }
    let tree = json!({
        "type": "object",
        "properties": { "v": { "$ref": "#/$defs/t" } },
        "$defs": { "t": { "anyOf": [
            { "type": "integer" },
            { "type": "object", "properties": { "l": { "$ref": "#/$defs/t" }, "r": { "$ref": "#/$defs/t" } } },
            { "type": "object", "properties": { "r": { "$ref": "#/$defs/t" }, "l": { "$ref": "#/$defs/t" } } }
        ] } }
    });
    let call = ToolCall::new("c", "t", json!({ "v": value }));
    call_as(policy(ArgumentRepair::On), &tree, Validation::Declared, call).await.refused();
}

#[tokio::test]
async fn observe_says_what_it_would_do_and_does_nothing() {
    let schema = json!({ "type": "object", "properties": { "v": { "type": "integer" } } });
    let call = ToolCall::new("c", "t", json!({ "v": "5" }));
    let seen = call_as(policy(ArgumentRepair::Observe), &schema, Validation::Subset, call.clone()).await;
    assert_eq!(seen.steps, [("/v".to_string(), RepairRule::Integer, false)]);
    assert!(seen.got.unwrap_err().contains("expected integer, got string \"5\""));
    let off = call_as(policy(ArgumentRepair::Off), &schema, Validation::Subset, call).await;
    assert!(off.refused().contains("expected integer"));
}

#[tokio::test]
async fn c26_a_field_that_no_parameter_has_is_refused_or_left_out_with_a_notice() {
    let silent = json!({
        "type": "object",
        "properties": {
            "limit": { "type": "integer" },
            "in": { "type": "object", "properties": { "a": { "type": "integer" } } },
            "map": { "type": "object" },
            "open": { "type": "object", "properties": { "a": {} }, "additionalProperties": true },
            "all": { "type": "object", "properties": { "a": {} }, "allOf": [{ "properties": { "b": {} } }] }
        }
    });
    let drop = RunPolicy { extra_args: ExtraArgs::DropWithNotice, ..policy(ArgumentRepair::Off) };
    let run = async |policy: RunPolicy, arguments: Value| {
        call_as(policy, &silent, Validation::Subset, ToolCall::new("c", "t", arguments)).await
    };
    let error = run(policy(ArgumentRepair::Off), json!({ "limt": 1, "in": { "b": 1 } })).await.refused();
    assert!(error.contains("`limt`: expected one of `limit`"), "{error}");
    assert!(error.contains("`in.b`: expected `a`, got unknown argument `b`"), "{error}");
    let dropped = run(drop.clone(), json!({ "limt": 1, "limit": 2, "in": { "a": 1, "b": 1 } })).await;
    dropped.became(
        json!({ "limit": 2, "in": { "a": 1 } }),
        &[("/limt", RepairRule::Dropped), ("/in/b", RepairRule::Dropped)],
    );
    // A tool's own word goes before the run's.
    for (run, own) in
        [(ExtraArgs::Deny, ExtraArgs::DropWithNotice), (ExtraArgs::DropWithNotice, ExtraArgs::Deny)]
    {
        let policy = RunPolicy { extra_args: run, ..policy(ArgumentRepair::Off) };
        let call = ToolCall::new("c", "t", json!({ "limt": 1 }));
        let called = call_by(policy, &silent, Validation::Subset, Some(own), call).await;
        match own {
            ExtraArgs::Deny => assert!(called.refused().contains("`limt`: expected one of `limit`")),
            _ => called.became(json!({}), &[("/limt", RepairRule::Dropped)]),
        }
    }
    let free = json!({ "map": { "x": 1 }, "open": { "x": 1 }, "all": { "b": 1 } });
    run(policy(ArgumentRepair::Off), free.clone()).await.became(free.clone(), &[]);
    run(drop, free.clone()).await.became(free, &[]);
    // A name that can be meant in one way only is mended rather than dropped.
    let both = RunPolicy { extra_args: ExtraArgs::DropWithNotice, ..policy(ArgumentRepair::On) };
    run(both, json!({ "Limit": 1, "x": 2 }))
        .await
        .became(json!({ "limit": 1 }), &[("/Limit", RepairRule::FieldName), ("/x", RepairRule::Dropped)]);
}
