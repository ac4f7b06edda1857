//! What models get wrong in arguments, from their text to the answer.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tinyagents::harness::context::ArgumentRepair;
use tinyagents::harness::event::{AgentEvent, RepairRule};
use tinyagents::harness::message::{ArgumentsError, AssistantMessage, Message, ToolCall, parse_arguments};
use tinyagents::harness::model::{FinishReason, ModelReply};
use tinyagents::harness::tool::Validation;
use tinyagents::prelude::*;
use tinyagents::testkit::ScriptedModel;

use crate::fixture::{Stage, results};
use crate::provider_openai::answers::completion;
use crate::provider_openai::server::Server;
use crate::repair::{Outcome, call_as, policy};

async fn raw(properties: Value, raw: &str) -> Outcome {
    let schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    let call = ToolCall::from_text("c", "t", raw);
    call_as(policy(ArgumentRepair::On), &schema, Validation::Declared, call).await
}

#[tokio::test]
async fn c20_integral_floats_are_integers_exactly() {
    let unsigned = json!({ "v": { "type": "integer", "minimum": 0 } });
    raw(unsigned.clone(), r#"{"v": 120000.0}"#).await.became(json!({ "v": 120_000 }), &[]);
    for text in ["2.5", "-1.0"] {
        let error = raw(unsigned.clone(), &format!("{{\"v\": {text}}}")).await.refused();
        assert!(error.contains("`v`: expected"), "{error}");
    }
    let error = raw(unsigned, r#"{"v": 1e400}"#).await.refused();
    assert!(error.contains("out of range"), "{error}");
}

#[tokio::test]
async fn c22_integers_are_never_rounded() {
    let int = json!({ "v": { "type": "integer" } });
    for exact in ["9007199254740993", "1234567890123456789", "18446744073709551615", "-9223372036854775808"] {
        let wanted: Value = serde_json::from_str(&format!("{{\"v\": {exact}}}")).unwrap();
        assert_eq!(wanted["v"].to_string(), exact);
        raw(int.clone(), &format!("{{\"v\": {exact}}}")).await.became(wanted.clone(), &[]);
        raw(int.clone(), &format!("{{\"v\": \"{exact}\"}}"))
            .await
            .became(wanted, &[("/v", RepairRule::Integer)]);
    }
    // Written as floats, these may have been rounded before anybody could see it.
    for rounded in ["1e16", "9007199254740993.0", "18446744073709551616", "-9223372036854775809"] {
        let error = raw(int.clone(), &format!("{{\"v\": {rounded}}}")).await.refused();
        assert!(error.contains("`v`: expected integer"), "{error}");
    }
}

#[tokio::test]
async fn c23_a_text_for_null_is_left_out_where_no_text_is_wanted_and_kept_where_one_is() {
    let both = json!({ "n": { "type": "integer" }, "s": { "type": "string" } });
    for text in ["null", "None"] {
        raw(both.clone(), &format!("{{\"n\": \"{text}\"}}"))
            .await
            .became(json!({}), &[("/n", RepairRule::NullText)]);
        raw(both.clone(), &format!("{{\"s\": \"{text}\"}}")).await.became(json!({ "s": text }), &[]);
    }
}

#[tokio::test]
async fn c27_a_lone_surrogate_becomes_a_replacement_character_and_is_recorded() {
    let text = json!({ "s": { "type": "string" } });
    let lone = &[("", RepairRule::LoneSurrogate)];
    for (escaped, wanted) in [
        (r"a\ud83cb", "a\u{fffd}b"),
        (r"\udf55", "\u{fffd}"),
        (r"\ud83c\ud83c\udf55", "\u{fffd}\u{1f355}"),
        (r"\ud83c\n\u0041", "\u{fffd}\nA"),
        (r"\ud83c\\udf55", "\u{fffd}\\udf55"),
        (r"\uD83C", "\u{fffd}"),
    ] {
        raw(text.clone(), &format!("{{\"s\": \"{escaped}\"}}")).await.became(json!({ "s": wanted }), lone);
    }
    // What is whole is one character, and what only looks like an escape stays.
    for (escaped, wanted) in [(r"\ud83c\udf55", "\u{1f355}"), (r"\\ud83c", "\\ud83c"), ("ü€", "ü€")] {
        raw(text.clone(), &format!("{{\"s\": \"{escaped}\"}}")).await.became(json!({ "s": wanted }), &[]);
    }
    // No other fault is hidden by it.
    for broken in [r#"{"s": "\ud83c"#, r#"{"s": "\ud83c", }"#, r#"{"s": "\ud83"}"#, r#"{"s": "\x\ud83c"}"#] {
        assert!(parse_arguments(broken).is_err(), "{broken}");
    }
}

#[tool_type]
struct Found {
    größe: String,
}

/// Say what came, ü中.
#[tool(read_only)]
fn echo(
    /// What to say, ü中.
    text: String,
) -> Json<Found> {
    Json(Found { größe: text })
}

#[tokio::test]
async fn c28_text_beyond_ascii_is_sent_as_it_is_in_arguments_results_and_schemas() {
    let call = json!([{
        "id": "c1", "type": "function",
        "function": { "name": "echo", "arguments": r#"{"text": "\u00fc\u4e2d\ud83c\udf55"}"# },
    }]);
    let asks = completion(&json!({ "content": null, "tool_calls": call }), "tool_calls");
    let server = Server::start(vec![asks, completion(&json!({ "content": "done" }), "stop")]).await;
    for provider in ["openai", "gemini", "llama.cpp"] {
        let mut harness: AgentHarness<()> = AgentHarness::new();
        harness.register_tool(Echo).unwrap();
        let model = server.model().streaming(false).with_provider(provider);
        harness.register_model("default", model).unwrap();
        harness.invoke(&(), vec![Message::user("go")]).await.unwrap();
    }
    let raw = &server.seen()[1].raw;
    for text in [
        r#""description":"Say what came, ü中.""#,
        r#""description":"What to say, ü中.""#,
        r#"{\"text\":\"ü中🍕\"}"#,
        r#"{\"größe\":\"ü中🍕\"}"#,
    ] {
        assert!(raw.contains(text), "no {text} in {raw}");
    }
    for seen in server.seen() {
        assert!(!seen.raw.contains("\\u"), "{}", seen.raw);
    }
}

#[tokio::test]
async fn c29_a_reply_that_was_cut_off_does_not_have_its_last_call_made() {
    let whole = json!({ "q": "tea" });
    for (calls, looked) in [
        (vec![ToolCall::new("c1", "look", whole.clone())], 0),
        (vec![ToolCall::from_text("c1", "look", r#"{"q": "te"#)], 0),
        (vec![ToolCall::from_text("c1", "look", "")], 0),
        (vec![ToolCall::new("c1", "look", whole.clone()), ToolCall::new("c2", "look", whole.clone())], 1),
    ] {
        let mut reply: ModelReply = AssistantMessage::calls(calls).into();
        reply.finish = FinishReason::Length;
        let mut stage = Stage::new(ScriptedModel::new().reply(reply).text("done"));
        let run = stage.run().await.unwrap();
        let last = results(&run.messages).last().unwrap().text();
        assert!(last.contains("truncated"), "{last}");
        assert!(last.contains("send a smaller payload"), "{last}");
        assert_eq!(stage.looked.get(), looked);
    }
    let error = parse_arguments(r#"{"q": "te"#).unwrap_err();
    assert!(matches!(error, ArgumentsError::Truncated { line: 1, column: 9 }), "{error:?}");
    assert!(error.to_string().contains("truncated: send a smaller payload"));
}

#[test]
fn c29_no_prefix_of_an_object_is_read() {
    let whole = r#"{"a": [1, {"b": "x\u00fc\"}"}], "c": -1.5e3, "d": true, "e": null}"#;
    assert!(parse_arguments(whole).is_ok());
    for (end, _) in whole.char_indices().skip(1) {
        let error = parse_arguments(&whole[..end]).unwrap_err();
        assert!(matches!(error, ArgumentsError::Truncated { .. }), "{}: {error}", &whole[..end]);
    }
}

#[test]
fn c29_of_several_values_none_is_read() {
    for raw in [r#"{"a":1}{"b":2}"#, r#"{"a":1}{"a":1}"#, r#"{"a":1} trailing"#, "{}{}", "{}}", "1 2"] {
        let error = parse_arguments(raw).unwrap_err();
        assert!(matches!(error, ArgumentsError::MoreThanOne { .. }), "{raw}: {error}");
    }
}

#[tokio::test]
async fn c32_the_answer_has_path_expected_got_and_allowed_values_and_is_bounded() {
    let long = "x".repeat(100_000);
    let many: serde_json::Map<_, _> = (0..300).map(|n| (format!("{long}{n}"), json!(1))).collect();
    let values: Vec<_> = (0..500).map(|n| format!("value_{n}")).collect();
    let schema =
        json!({ "e": { "type": "string", "enum": values }, "s": { "type": "string", "description": long } });
    let mut arguments = Value::Object(many);
    arguments["e"] = json!("value");
    let error = raw(schema, &arguments.to_string()).await.refused();
    assert!(error.chars().count() <= 5_000, "{}", error.chars().count());
    let few = json!({ "e": { "type": "string", "enum": ["a", "b"] } });
    let error = raw(few, r#"{"e": "c"}"#).await.refused();
    assert!(error.contains("`e`: expected one of \"a\", \"b\", got string \"c\""), "{error}");
}

#[tokio::test]
async fn c32_of_alternatives_the_mistakes_of_the_one_that_is_meant_are_told() {
    let object = |properties: Value, required: Value| json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false });
    let text = json!({ "type": "string" });
    let number = json!({ "type": "number" });
    let tagged = json!({ "oneOf": [
        object(json!({ "kind": { "const": "circle" }, "r": number }), json!(["kind", "r"])),
        object(json!({ "kind": { "const": "square" }, "side": number }), json!(["kind", "side"])),
    ] });
    let named = json!({ "oneOf": [
        { "type": "string", "enum": ["None"] },
        object(json!({ "Name": text }), json!(["Name"])),
        object(json!({ "Id": number }), json!(["Id"])),
    ] });
    let nullable = json!({ "anyOf": [{ "type": "array", "items": tagged }, { "type": "null" }] });
    for (schema, value, told) in [
        (
            &tagged,
            json!({ "kind": "square", "side": "wide" }),
            r#"`v.side`: expected number, got string "wide""#,
        ),
        (&tagged, json!({ "kind": "square" }), "`v.side`: expected number, got nothing"),
        (
            &tagged,
            json!({ "kind": "oval" }),
            r#"`v.kind`: expected one of "circle", "square", got string "oval""#,
        ),
        (&tagged, json!({ "r": 1 }), r#"`v.kind`: expected one of "circle", "square", got nothing"#),
        (
            &tagged,
            json!("circle"),
            "`v`: expected object with `kind`, `r` or object with `kind`, `side`, got string \"circle\"",
        ),
        (&named, json!("none at all"), r#"`v`: expected "None", got string "none at all""#),
        (&named, json!({ "Id": "x" }), r#"`v.Id`: expected number, got string "x""#),
        (
            &named,
            json!({ "Nam": "x" }),
            r#"`v`: expected "None" or object with `Name` or object with `Id`, got object with `Nam`"#,
        ),
        (
            &named,
            json!({ "Id": 1, "Name": "x" }),
            r#"`v`: expected "None" or object with `Name` or object with `Id`, got object with `Id`, `Name`"#,
        ),
        (&nullable, json!([{ "kind": "circle", "r": [] }]), "`v[0].r`: expected number, got array"),
    ] {
        let schema = json!({ "type": "object", "properties": { "v": schema } });
        let call = ToolCall::new("c", "t", json!({ "v": value }));
        let error = call_as(policy(ArgumentRepair::Off), &schema, Validation::Declared, call).await.refused();
        let lines: Vec<_> = error.lines().filter_map(|line| line.strip_prefix("- ")).collect();
        assert_eq!(lines, [told], "{value}");
    }
}

#[tokio::test]
async fn c32_a_value_that_the_policy_hides_is_not_echoed() {
    let schema = json!({
        "type": "object",
        "properties": {
            "token": { "type": "integer" },
            "in": { "type": "object", "properties": { "token": { "type": "integer" }, "n": { "type": "integer" } } }
        }
    });
    // As a value, in a list, and in the broken spelling of the object that holds it.
    for arguments in [
        json!({ "token": "sk-123" }),
        json!({ "in": { "token": "sk-123" } }),
        json!({ "token": ["sk-123"] }),
        json!({ "in": "{\"token\": \"sk-123\"" }),
    ] {
        let call = ToolCall::new("c", "t", arguments);
        let error = call_as(policy(ArgumentRepair::On), &schema, Validation::Subset, call).await.refused();
        assert!(!error.contains("sk-123") && error.contains("[redacted]"), "{error}");
    }
    let call = ToolCall::new("c", "t", json!({ "in": { "n": "five" } }));
    let error = call_as(policy(ArgumentRepair::On), &schema, Validation::Subset, call).await.refused();
    assert!(error.contains("got string \"five\""), "what is not hidden is shown: {error}");
}

#[tokio::test]
async fn c33_the_answer_has_no_name_of_a_rust_type() {
    let types = ["null", "boolean", "integer", "number", "string", "array", "object"];
    let values = [json!(null), json!(true), json!(1), json!(1.5), json!("x"), json!([]), json!({})];
    for kind in types {
        for value in &values {
            let schema = json!({
                "type": "object", "properties": { "v": { "type": kind } }, "required": ["v"]
            });
            let call = ToolCall::new("c", "t", json!({ "v": value }));
            let outcome = call_as(policy(ArgumentRepair::Off), &schema, Validation::Declared, call).await;
            let Err(error) = outcome.got else { continue };
            for name in
                ["i64", "u32", "f64", "usize", "struct", "String", "Vec", "Option", "HashMap", "serde"]
            {
                assert!(!error.contains(name), "{error}");
            }
        }
    }
}

#[tool_type]
#[derive(Debug)]
enum Colour {
    Red,
    Green,
}

#[tool_type]
#[derive(Debug)]
struct Paint {
    colour: Colour,
    coats: u8,
}

/// Take every kind of parameter.
#[tool(read_only)]
#[expect(clippy::too_many_arguments, reason = "one of each kind")]
fn kinds(
    int: i64,
    small: u8,
    float: f64,
    text: String,
    flag: bool,
    letter: char,
    list: Vec<Paint>,
    map: BTreeMap<String, u32>,
    pair: (i32, String),
    paint: Paint,
    colour: Colour,
    maybe: Option<Paint>,
    wait: std::time::Duration,
) -> String {
    format!(
        "{int}{small}{float}{text}{flag}{letter}{list:?}{map:?}{pair:?}{paint:?}{colour:?}{maybe:?}{wait:?}"
    )
}

#[tokio::test]
async fn c33_nor_has_that_of_a_tool_made_of_rust_types() {
    let values =
        [json!(null), json!(true), json!(1e300), json!(-1), json!("x"), json!([{}]), json!({ "a": 1.5 })];
    let schema = Tool::<()>::spec(&Kinds).input_schema;
    let names: Vec<String> = schema["properties"].as_object().unwrap().keys().cloned().collect();
    let mut refused = 0;
    for value in values {
        let arguments: serde_json::Map<_, _> =
            names.iter().map(|name| (name.clone(), value.clone())).collect();
        let mut stage = Stage::new(ScriptedModel::new().call("kinds", Value::Object(arguments)).text("done"));
        stage =
            stage.tool(Kinds).policy(RunPolicy { repair: ArgumentRepair::Off, ..RunPolicy::recovering() });
        let run = stage.run().await.unwrap();
        let text = results(&run.messages)[0].text();
        refused += text.matches("\n- `").count();
        for word in text.split(|c: char| !c.is_ascii_alphanumeric()) {
            let is_type = matches!(
                word,
                "i64"
                    | "u8"
                    | "u32"
                    | "i32"
                    | "f64"
                    | "bool"
                    | "char"
                    | "String"
                    | "Vec"
                    | "Option"
                    | "BTreeMap"
                    | "HashMap"
                    | "Paint"
                    | "Colour"
                    | "Duration"
                    | "struct"
                    | "enum"
                    | "tuple"
                    | "serde"
                    | "std"
            );
            let is_keyword = word == "enum" && text.contains("\"enum\":");
            assert!(!is_type || is_keyword, "{word} in {text}");
        }
    }
    assert!(refused > 50, "{refused}");
}

#[tokio::test]
async fn c25_c26_a_repair_is_recorded_before_the_gate_sees_the_call() {
    let mut stage =
        Stage::new(ScriptedModel::new().call("look", json!({ "Q": "tea", "limit": "5" })).text("done"));
    stage.run().await.unwrap();
    let kinds = stage.events.kinds();
    let at = |kind| kinds.iter().position(|known| *known == kind).unwrap();
    assert!(at("tool.requested") < at("tool.arguments_repaired"));
    assert!(at("tool.arguments_repaired") < at("tool.decided"));
    let steps = stage.events.find(|event| match event {
        AgentEvent::ArgumentsRepaired { path, rule, applied } => Some(format!("{path} {rule} {applied}")),
        _ => None,
    });
    assert_eq!(steps, ["/Q field_name true", "/limit integer true"]);
}
