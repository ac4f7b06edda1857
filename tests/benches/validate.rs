//! What it costs to check a call's arguments: `cargo bench -p tinyagents-tests --bench validate`.
//!
//! Times are of the processor. They drift with the machine, so each row is printed with its ratio to the same work of
//! the `jsonschema` crate in the same run, the two in turns.

use std::hint::black_box;
use std::time::Duration;

use cpu_time::ThreadTime;
use serde_json::{Value, json};
use tinyagents::harness::tool::{Tool, Validation, Validator};
use tinyagents::prelude::*;

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

/// A schema from elsewhere, of the same shape.
fn foreign() -> Value {
    json!({
        "type": "object",
        "properties": {
            "query": { "type": "string" },
            "limit": { "type": "integer" },
            "exact": { "type": "boolean" },
            "order": { "type": "string", "enum": ["relevance", "date"] },
            "tags": { "type": "array", "items": { "type": "string" } }
        },
        "required": ["query", "limit", "exact", "order", "tags"],
        "additionalProperties": false
    })
}

const ROUNDS: u32 = 20_000;

fn time(work: &mut dyn FnMut()) -> Duration {
    let start = ThreadTime::now();
    (0..ROUNDS).for_each(|_| work());
    start.elapsed()
}

/// The median times of two kinds of work, taken in turns, in nanoseconds a round.
fn measure(mut ours: impl FnMut(), mut theirs: impl FnMut()) -> (f64, f64) {
    let (mut first, mut second): (Vec<_>, Vec<_>) =
        (0..41).map(|_| (time(&mut ours), time(&mut theirs))).unzip();
    first.sort();
    second.sort();
    let median = |samples: &[Duration]| samples[samples.len() / 2].as_secs_f64() * 1e9 / f64::from(ROUNDS);
    (median(&first), median(&second))
}

/// Prints one row; gives our time and its ratio.
fn row(name: &str, schema: &Value, validation: Validation, value: &Value) -> (f64, f64) {
    let ours = Validator::compile(schema, validation).unwrap();
    let theirs = jsonschema::validator_for(schema).unwrap();
    assert_eq!(ours.validate(value).is_ok(), theirs.is_valid(value), "{name}");
    let (ours, theirs) = measure(
        || drop(black_box(ours.validate(black_box(value)))),
        || {
            black_box(theirs.is_valid(black_box(value)));
        },
    );
    println!("{name:<50} {ours:>8.1} ns  jsonschema {theirs:>8.1} ns  ratio {:>5.2}", ours / theirs);
    (ours, ours / theirs)
}

fn main() {
    let generated: Value = (*Tool::<()>::spec(&Search).input_schema).clone();
    let foreign = foreign();
    let call = json!({ "query": "rust", "limit": 5, "exact": true, "order": "date", "tags": ["a", "b"] });
    let shuffled = json!({ "tags": ["a", "b"], "order": "date", "limit": 5, "exact": true, "query": "rust" });
    let long =
        json!({ "query": "rust", "limit": 5, "exact": true, "order": "date", "tags": vec!["tag"; 1_000] });
    let broken = json!({ "query": "rust", "limit": "5", "exact": true, "order": "date", "tags": ["a", "b"] });

    let (declared, declared_ratio) =
        row("a valid call of a generated tool", &generated, Validation::Declared, &call);
    let (subset, subset_ratio) = row("a valid call of a foreign schema", &foreign, Validation::Subset, &call);
    row("its keys in another order", &foreign, Validation::Subset, &shuffled);
    row("a list of 1000 texts", &foreign, Validation::Subset, &long);
    row("everything in the schema enforced", &foreign, Validation::Full, &call);
    row("an invalid call, its problem reported", &foreign, Validation::Subset, &broken);

    println!("the mark: at most 150 ns and no slower than `jsonschema` for a valid call");
    let is_met = declared.max(subset) <= 150.0 && declared_ratio.max(subset_ratio) <= 1.0;
    println!("{}", if is_met { "met" } else { "NOT met" });
}
