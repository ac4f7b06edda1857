//! What each provider accepts as a schema, and what is lost on the way.

mod accepted;
mod checker;
mod hostile;
mod renamed;
mod rules;

use serde_json::{Value, json};
use tinyagents::harness::tool::dialect::SchemaDialect;

/// The schemas of the corpus, each with its name; a few of the same kinds where there is no corpus.
fn shapes() -> Vec<(String, Value)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/corpora/schemars/schemars-1.2-output.json");
    let text = std::fs::read_to_string(path).unwrap_or_else(|_| {
        println!("dialects: no corpus; only the shapes under tests/data");
        include_str!("../data/schemars.json").to_string()
    });
    let shapes: serde_json::Map<String, Value> = serde_json::from_str(&text).unwrap();
    shapes.into_iter().collect()
}
