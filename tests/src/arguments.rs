//! What models get wrong in arguments, from their text to the answer.

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
async fn c20_c22_a_number_is_what_its_text_says_or_out_of_range() {
    let number = json!({ "v": { "type": "number" } });
    for (text, value) in [
        ("1.5", json!(1.5)),
        ("-0.25e1", json!(-2.5)),
        ("3.0", json!(3)),
        ("1e3", json!(1000)),
        ("18446744073709551615", json!(u64::MAX)),
        ("-9223372036854775808", json!(i64::MIN)),
        ("18446744073709551616", json!(18_446_744_073_709_551_616.0)),
    ] {
        raw(number.clone(), &format!("{{\"v\": {text}}}")).await.became(json!({ "v": value }), &[]);
    }
    assert!(raw(number, r#"{"v": 1e400}"#).await.refused().contains("out of range"));
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

/// Look for something.
#[tool(read_only)]
fn bounded(#[arg(range = 1..=50)] limit: u32) -> String {
    limit.to_string()
}

#[tokio::test]
async fn s56_a_bound_is_sent_and_is_enforced_where_it_was_declared_or_is_asked_for() {
    let call = |n: usize, name: &str| {
        json!({
            "id": n.to_string(), "type": "function", "function": { "name": name, "arguments": r#"{"limit": 51}"# },
        })
    };
    let calls = json!([call(0, "bounded"), call(1, "foreign"), call(2, "full")]);
    let asks = completion(&json!({ "content": null, "tool_calls": calls }), "tool_calls");
    let server = Server::start(vec![asks, completion(&json!({ "content": "done" }), "stop")]).await;
    let foreign = |name: &str| {
        let limit = json!({ "type": "integer", "minimum": 1, "maximum": 50 });
        let schema = json!({ "type": "object", "properties": { "limit": limit } });
        DynTool::new(name, schema, ToolPolicy::read_only(), |_, _| async { Ok::<_, ToolError>("ran") })
    };
    let mut harness: AgentHarness<()> = AgentHarness::new();
    harness.register_tool(Bounded).unwrap().register_tool(foreign("foreign")).unwrap();
    harness.register_tool(foreign("full").with_validation(Validation::Full)).unwrap();
    harness.register_model("default", server.model().streaming(false).with_provider("openai")).unwrap();
    harness.with_policy(RunPolicy::recovering());
    let run = harness.invoke(&(), vec![Message::user("go")]).await.unwrap();
    let refused: Vec<_> = results(&run.messages).iter().map(|result| result.is_error).collect();
    assert_eq!(refused, [true, false, true]);
    for tool in server.seen()[0].body["tools"].as_array().unwrap() {
        assert_eq!(tool["function"]["parameters"]["properties"]["limit"]["maximum"], 50, "{tool}");
    }
}

#[tokio::test]
async fn c23_a_text_for_null_is_left_out_where_no_text_is_wanted_and_kept_where_one_is() {
    let both = json!({ "n": { "type": "integer" }, "s": { "type": "string" } });
    for text in ["null", "None"] {
        raw(both.clone(), &format!("{{\"n\": \"{text}\"}}"))
            .await
            .became(json!({}), &[("/n", RepairRule::NullText)]);
        let kept = raw(both.clone(), &format!("{{\"s\": \"{text}\"}}")).await;
        assert_eq!(kept.steps, [("/s".to_string(), RepairRule::NullText, false)]);
        assert_eq!(kept.got.unwrap(), json!({ "s": text }));
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
