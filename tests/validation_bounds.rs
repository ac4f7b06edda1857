//! A valid call is checked without an allocation, counted.
//!
//! A target of its own, because the counter takes the place of its program's allocator.

use std::collections::BTreeMap;

use allocation_counter::measure;
use tinyagents::harness::tool::{Tool, Validation, Validator};
use tinyagents::prelude::*;
use tinyagents::serde_json::{Value, from_str, json};

/// Search the catalogue.
#[tool(read_only)]
fn search(
    query: String,
    #[arg(range = 1..=50)] limit: u32,
    exact: bool,
    #[arg(one_of = ["relevance", "date"])] order: String,
    tags: Vec<String>,
) -> String {
    format!("{query} {limit} {exact} {order} {tags:?}")
}

/// A part, and the parts in it.
#[tool_type]
struct Part {
    name: String,
    parts: Vec<Part>,
}

/// What is to be done with a part.
#[tool_type]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Step {
    Drill { depth: f64 },
    Paint { colour: Option<String> },
}

/// Make a thing.
#[tool]
fn make(
    part: Part,
    steps: Vec<Step>,
    #[arg(pattern = "^[A-Z]{2}[0-9]+$", len = 3..=10)] code: String,
    counts: BTreeMap<u16, i64>,
    pair: (u8, Option<f32>),
    when: Option<String>,
) -> String {
    let deep = part.parts.len();
    let _ = (part.name, code, counts, pair, when);
    let said = steps.into_iter().map(|step| match step {
        Step::Drill { depth } => format!("drill {depth}"),
        Step::Paint { colour } => format!("paint {colour:?}"),
    });
    format!("{deep} {:?}", said.collect::<Vec<_>>())
}

/// How often a check of a value that fits allocates.
#[track_caller]
fn allocations(validator: &Validator, value: &Value) -> u64 {
    // What is built once, such as a pattern's own memory, belongs to no call.
    assert_eq!(validator.validate(value), Ok(()), "{value}");
    measure(|| assert!(validator.validate(value).is_ok())).count_total
}

#[test]
fn a_valid_call_is_checked_without_an_allocation() {
    let flat = json!({ "query": "rust", "limit": 5, "exact": true, "order": "date", "tags": ["a", "b"] });
    let rich = json!({
        "part": { "name": "box", "parts": [{ "name": "lid", "parts": [] }] },
        "steps": [{ "kind": "drill", "depth": 2.5 }, { "kind": "paint", "colour": "red" }],
        "code": "AB12",
        "counts": { "3": -4, "70": 9_007_199_254_740_993_i64 },
        "pair": [1, null]
    });
    for (spec, call) in [(Tool::<()>::spec(&Search), flat), (Tool::<()>::spec(&Make), rich)] {
        for validation in [Validation::Declared, Validation::Subset] {
            let validator = Validator::compile(&spec.input_schema, validation).unwrap();
            assert_eq!(allocations(&validator, &call), 0, "{validation:?}: {call}");
        }
    }
}

#[test]
fn no_valid_value_of_the_test_suite_costs_an_allocation() {
    let mut values = 0;
    for keyword in ["type", "properties", "required", "additionalProperties", "items", "enum"] {
        let path = format!("{}/data/json-schema-test-suite/{keyword}.json", env!("CARGO_MANIFEST_DIR"));
        let groups: Vec<Value> = from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        for group in &groups {
            let Ok(validator) = Validator::compile(&group["schema"], Validation::Subset) else { continue };
            for test in group["tests"].as_array().unwrap() {
                if validator.validate(&test["data"]).is_ok() {
                    assert_eq!(allocations(&validator, &test["data"]), 0, "{keyword}: {test}");
                    values += 1;
                }
            }
        }
    }
    println!("validation_bounds: {values} valid values of the suite, none of which costs an allocation");
    assert!(values > 30, "{values}");
}
