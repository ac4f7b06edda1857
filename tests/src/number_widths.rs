//! A number that a parameter's type cannot hold is refused before the body, and its schema stays readable everywhere.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tinyagents::harness::tool::{Tool, Validation, Validator};
use tinyagents::prelude::*;
use tinyagents::schemars::JsonSchema;
use tinyagents::serde::Deserialize;
use tinyagents::testkit::ScriptedModel;

use crate::fixture::{Stage, texts};

/// A part of it.
#[derive(Deserialize, JsonSchema)]
#[serde(crate = "tinyagents::serde")]
#[schemars(crate = "tinyagents::schemars")]
struct Part {
    wide: i64,
    #[serde(default)]
    parts: Vec<Part>,
}

/// Hold numbers.
#[tool(read_only)]
#[expect(clippy::too_many_arguments, reason = "one for each width")]
fn hold(
    i64: Option<i64>,
    u64: Option<u64>,
    isize: Option<isize>,
    usize: Option<usize>,
    i128: Option<i128>,
    u128: Option<u128>,
    i32: Option<i32>,
    u8: Option<u8>,
    f32: Option<f32>,
    f64: Option<f64>,
    list: Option<Vec<i64>>,
    map: Option<BTreeMap<String, i64>>,
    pair: Option<(i64, f32)>,
    part: Option<Part>,
    #[arg(range = 5..)] from: Option<i64>,
) -> String {
    let single = f32.is_none_or(f32::is_finite) && pair.is_none_or(|(_, float)| float.is_finite());
    assert!(single, "an infinite number reached the body");
    let part = part.map_or(0, |part| part.wide + part.parts.len() as i64);
    let sum = [i64, from, list.map(|list| list.len() as i64), map.map(|map| map.len() as i64), Some(part)];
    let small = [u64.is_some(), isize.is_some(), usize.is_some(), i128.is_some(), u128.is_some()];
    format!("{:?} {small:?} {:?}", sum.iter().flatten().max(), (i32, u8, f64))
}

/// Texts of arguments, as a model writes them, that fit.
const FIT: [&str; 17] = [
    r#"{"i64": 9223372036854775807}"#,
    r#"{"i64": -9223372036854775808}"#,
    r#"{"i64": 5.0}"#,
    r#"{"u64": 18446744073709551615}"#,
    r#"{"u64": 0}"#,
    r#"{"isize": -9223372036854775808}"#,
    r#"{"usize": 18446744073709551615}"#,
    r#"{"i128": 18446744073709551615}"#,
    r#"{"i128": -9223372036854775808}"#,
    r#"{"u128": 18446744073709551615}"#,
    r#"{"f32": 3.4028234e38}"#,
    r#"{"f32": 18446744073709551615}"#,
    r#"{"f64": 1e308}"#,
    r#"{"list": [9223372036854775807]}"#,
    r#"{"pair": [1, 0.5]}"#,
    r#"{"part": {"wide": 1, "parts": [{"wide": 9223372036854775807}]}}"#,
    r#"{"from": 9223372036854775807}"#,
];

/// Those that do not, and the one path that is reported.
const MISFIT: [(&str, &str); 26] = [
    (r#"{"i64": 9223372036854775808}"#, "/i64"),
    (r#"{"i64": 18446744073709551615}"#, "/i64"),
    (r#"{"i64": 18446744073709551616}"#, "/i64"),
    (r#"{"i64": -9223372036854775809}"#, "/i64"),
    (r#"{"i64": 1e30}"#, "/i64"),
    (r#"{"i64": 9223372036854775807.0}"#, "/i64"),
    (r#"{"i64": 5.5}"#, "/i64"),
    (r#"{"u64": -1}"#, "/u64"),
    (r#"{"u64": 18446744073709551616}"#, "/u64"),
    (r#"{"isize": 9223372036854775808}"#, "/isize"),
    (r#"{"usize": -1}"#, "/usize"),
    (r#"{"usize": 1e25}"#, "/usize"),
    (r#"{"i128": 18446744073709551616}"#, "/i128"),
    (r#"{"u128": -1}"#, "/u128"),
    (r#"{"u128": 18446744073709551616}"#, "/u128"),
    (r#"{"i32": 2147483648}"#, "/i32"),
    (r#"{"u8": 256}"#, "/u8"),
    (r#"{"f32": 3.5e38}"#, "/f32"),
    (r#"{"f32": -1e300}"#, "/f32"),
    (r#"{"list": [1, 9223372036854775808]}"#, "/list/1"),
    (r#"{"map": {"a/b": 9223372036854775808}}"#, "/map/a~1b"),
    (r#"{"pair": [9223372036854775808, 0.5]}"#, "/pair/0"),
    (r#"{"pair": [1, 1e39]}"#, "/pair/1"),
    (r#"{"part": {"wide": 9223372036854775808}}"#, "/part/wide"),
    (r#"{"part": {"wide": 1, "parts": [{"wide": 9223372036854775808}]}}"#, "/part/parts/0/wide"),
    (r#"{"from": 9223372036854775808}"#, "/from"),
];

#[test]
fn the_schema_has_no_bounds_that_readers_of_json_cannot_hold() {
    let schema = Tool::<()>::spec(&Hold).input_schema;
    let text = schema.to_string();
    for beyond in ["9223372036854775807", "18446744073709551615", "\"format\""] {
        assert!(!text.contains(beyond), "{text}");
    }
    assert_eq!(schema["properties"]["i64"], json!({ "type": "integer" }));
    assert_eq!(schema["properties"]["u64"], json!({ "type": "integer", "minimum": 0 }));
    assert_eq!(schema["properties"]["from"], json!({ "type": "integer", "minimum": 5 }));
}

#[tokio::test]
async fn a_number_too_wide_for_its_type_never_starts_the_tool() {
    for (text, path) in MISFIT {
        let call = ToolCall::from_text("c", "hold", text);
        let model = ScriptedModel::new().reply(AssistantMessage::calls([call])).text("done");
        let mut stage = Stage::new(model).tool(Hold);
        let run = stage.run().await.unwrap();
        let kinds = stage.events.kinds();
        assert!(!kinds.contains(&"tool.started"), "{text}: {kinds:?}");
        let problems: Vec<_> = stage.events.find(|event| match event {
            tinyagents::harness::event::AgentEvent::InvalidToolArgs { error, .. } => Some(error.clone()),
            _ => None,
        });
        assert_eq!(problems.len(), 1, "{text}: {kinds:?}");
        let answer = &texts(&run.messages)[0];
        let name = path.trim_start_matches('/').split('/').next().unwrap();
        assert!(answer.contains(name) && answer.contains("expected"), "{text}: {answer}");
    }
    println!("{} numbers that no type holds, none of which started its tool", MISFIT.len());
}

#[tokio::test]
async fn a_number_as_wide_as_its_type_reaches_the_body() {
    for text in FIT {
        let call = ToolCall::from_text("c", "hold", text);
        let model = ScriptedModel::new().reply(AssistantMessage::calls([call])).text("done");
        let mut stage = Stage::new(model).tool(Hold);
        let run = stage.run().await.unwrap();
        let answer = &texts(&run.messages)[0];
        assert!(stage.events.kinds().contains(&"tool.completed"), "{text}: {answer}");
    }
    println!("{} numbers at the ends of their types, each read by its tool", FIT.len());
}

#[test]
fn numbers_are_compared_exactly() {
    let bound = |keyword: &str, limit: &str, value: &str| {
        let schema: Value = serde_json::from_str(&format!(r#"{{"{keyword}": {limit}}}"#)).unwrap();
        let validator = Validator::compile(&schema, Validation::Declared).unwrap();
        validator.validate(&serde_json::from_str(value).unwrap()).is_ok()
    };
    // 2^53 + 1 is no float, and 2^53 is what it rounds to.
    assert!(bound("minimum", "9007199254740993", "9007199254740993"));
    assert!(!bound("minimum", "9007199254740993", "9007199254740992"));
    assert!(!bound("minimum", "9007199254740993", "9007199254740992.0"));
    assert!(bound("exclusiveMaximum", "9007199254740993", "9007199254740992.0"));
    assert!(!bound("maximum", "18446744073709551614", "18446744073709551615"));
    assert!(!bound("maximum", "18446744073709551615", "18446744073709551616"));
    assert!(bound("maximum", "1e300", "18446744073709551615"));
    assert!(bound("minimum", "-1e300", "-9223372036854775808"));
    assert!(bound("minimum", "-0.5", "0") && !bound("minimum", "0.5", "0"));
    assert!(!bound("maximum", "-1.5", "-1") && bound("maximum", "-1.5", "-2"));
    assert!(!bound("const", "9007199254740993", "9007199254740992.0"));
    assert!(bound("const", "9007199254740992", "9007199254740992.0"));
}
