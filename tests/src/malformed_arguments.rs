//! Malformed arguments from the field: none that is unsafe to run is run, and what can be read in one way only is.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tinyagents::harness::context::ArgumentRepair;
use tinyagents::harness::message::{ToolCall, parse_arguments};
use tinyagents::harness::tool::Validation;
use tinyagents::serde::Deserialize;

use crate::repair::{call_as, policy};

const CORPUS: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/corpora/malformed/malformed_args.jsonl");
const EXTRACT: &str = include_str!("../data/malformed/extract.jsonl");

#[derive(Deserialize)]
#[serde(crate = "tinyagents::serde")]
struct Row {
    id: String,
    raw: String,
    repaired: Value,
    class: String,
    safe_to_execute: bool,
    strict_json: bool,
}

fn rows() -> Vec<Row> {
    let text = std::fs::read_to_string(CORPUS).unwrap_or_else(|_| {
        println!("the corpora are not here; the extract of 14 rows runs");
        EXTRACT.to_string()
    });
    let rows: Vec<Row> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(rows.len() >= 14);
    rows
}

/// The schema that a tool would have whose call is `meant`; one that takes anything, if nobody knows what was.
fn schema_of(meant: &Value) -> Value {
    match meant {
        Value::Null => json!({}),
        Value::Object(fields) => {
            let properties: serde_json::Map<_, _> =
                fields.iter().map(|(name, value)| (name.clone(), schema_of(value))).collect();
            json!({ "type": "object", "properties": properties, "additionalProperties": false })
        }
        Value::Array(items) => {
            json!({ "type": "array", "items": items.first().map_or(json!({}), schema_of) })
        }
        Value::String(_) => json!({ "type": "string" }),
        Value::Bool(_) => json!({ "type": "boolean" }),
        Value::Number(number) if number.as_f64().unwrap().fract() == 0.0 => json!({ "type": "integer" }),
        Value::Number(_) => json!({ "type": "number" }),
    }
}

#[tokio::test]
async fn malformed_arguments_that_are_unsafe_are_never_run_and_the_rest_is_as_meant() {
    let mut counts: BTreeMap<(String, &str), usize> = BTreeMap::new();
    for row in rows() {
        let schema = match &row.repaired {
            Value::Null => json!({ "type": "object" }),
            meant => schema_of(meant),
        };
        let call = ToolCall::from_text("c", "t", &row.raw);
        let unparsed = call.invalid.is_some();
        let outcome = call_as(policy(ArgumentRepair::On), &schema, Validation::Declared, call).await;
        let what = match (&outcome.got, unparsed) {
            (Ok(got), _) => {
                assert!(row.safe_to_execute, "{} was run with {got}", row.id);
                assert_eq!(got, &row.repaired, "{}", row.id);
                if outcome.steps.is_empty() { "run as it was" } else { "run, repaired" }
            }
            (Err(_), true) => "no JSON",
            (Err(_), false) => "broke the schema",
        };
        let mended =
            ["stringified-field", "scalar-for-array", "double-encoded", "null", "empty", "valid-control"];
        if mended.contains(&row.class.as_str()) {
            assert_eq!(outcome.got.as_ref(), Ok(&row.repaired), "{}", row.id);
        }
        *counts.entry((row.class, what)).or_default() += 1;
    }
    for ((class, what), count) in &counts {
        println!("{class:26} {what:18} {count:3}");
    }
    println!("{} rows", counts.values().sum::<usize>());
}

#[test]
fn malformed_arguments_that_are_json_are_read_as_json() {
    let strict: Vec<_> = rows().into_iter().filter(|row| row.strict_json).collect();
    for row in &strict {
        let plain: Value = serde_json::from_str(&row.raw).unwrap();
        assert_eq!(parse_arguments(&row.raw).unwrap(), plain, "{}", row.id);
    }
    println!("{} rows of strict JSON, none edited", strict.len());
}
