//! Every owned type with a schema is a parameter, whole and in declared order.

use std::collections::BTreeMap;

use tinyagents::prelude::*;
use tinyagents::{schemars::JsonSchema, serde::Deserialize};

#[derive(Deserialize, JsonSchema)]
#[serde(crate = "tinyagents::serde", rename_all = "lowercase")]
#[schemars(crate = "tinyagents::schemars")]
enum Mode {
    Fast,
    Exact,
}

#[derive(Deserialize, JsonSchema)]
#[serde(crate = "tinyagents::serde")]
#[schemars(crate = "tinyagents::schemars")]
struct Point {
    x: f64,
    y: f64,
}

/// Every shape.
#[tool]
fn shapes(
    mode: Mode,
    mut at: Point,
    count: usize,
    names: Vec<String>,
    sizes: BTreeMap<String, i64>,
    pair: (bool, char),
    note: Option<String>,
) -> String {
    at.x += 1.0;
    let mode = match mode {
        Mode::Fast => "fast",
        Mode::Exact => "exact",
    };
    format!("{mode} {} {} {count} {names:?} {sizes:?} {pair:?} {note:?}", at.x, at.y)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    assert_eq!(Shapes::PARAMETERS, ["mode", "at", "count", "names", "sizes", "pair", "note"]);
    let schema = &Shapes::spec().input_schema;
    let properties = &schema["properties"];
    assert_eq!(schema["type"], "object");
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(schema["required"], json!(["mode", "at", "count", "names", "sizes", "pair"]));
    assert_eq!(properties["mode"], json!({ "type": "string", "enum": ["fast", "exact"] }));
    assert_eq!(properties["at"]["required"], json!(["x", "y"]));
    assert_eq!(properties["at"]["properties"]["x"], json!({ "type": "number" }));
    assert_eq!(properties["count"], json!({ "type": "integer", "minimum": 0 }));
    assert_eq!(properties["names"], json!({ "type": "array", "items": { "type": "string" } }));
    assert_eq!(properties["sizes"]["additionalProperties"], json!({ "type": "integer" }));
    assert_eq!(properties["note"], json!({ "type": "string" }));

    let arguments = json!({
        "mode": "exact", "at": { "x": 1, "y": 2 }, "count": 3, "names": ["a"], "sizes": { "b": 4 }, "pair": [true, "c"]
    });
    let result = tinyagents::testkit::call(&Shapes, &(), arguments).await.unwrap();
    let expected = r#"exact 2 2 3 ["a"] {"b": 4} (true, 'c') None"#;
    assert_eq!(result.content, [ContentBlock::text(expected)]);
}
