//! Schemas of parameter types.

use std::collections::HashMap;

use proptest::prelude::*;
use serde_json::{Value, json};
use tinyagents::harness::tool::{Validation, Validator};
use tinyagents::prelude::*;
use tinyagents::schemars::{self, JsonSchema, Schema, SchemaGenerator};
use tinyagents::serde::Deserialize;
use tinyagents::testkit::{self, ScriptedModel};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(crate = "tinyagents::serde", rename_all = "snake_case")]
#[schemars(crate = "tinyagents::schemars")]
enum Role {
    User,
    Assistant,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(crate = "tinyagents::serde", deny_unknown_fields)]
#[schemars(crate = "tinyagents::schemars")]
#[allow(dead_code, reason = "read by the schema and by `Debug`")]
struct Said {
    role: Role,
    text: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(crate = "tinyagents::serde", deny_unknown_fields)]
#[schemars(crate = "tinyagents::schemars")]
#[allow(dead_code, reason = "as above")]
struct Tree {
    said: Said,
    below: Vec<Tree>,
}

/// Every pointer of a document, with what it points to.
fn references(document: &Value) -> Vec<(String, bool)> {
    fn walk(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(object) => {
                found.extend(object.get("$ref").and_then(Value::as_str).map(ToOwned::to_owned));
                object.values().for_each(|value| walk(value, found));
            }
            Value::Array(items) => items.iter().for_each(|value| walk(value, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    walk(document, &mut found);
    let resolves =
        |pointer: &str| pointer.strip_prefix('#').is_some_and(|path| document.pointer(path).is_some());
    found
        .into_iter()
        .map(|pointer| {
            let good = resolves(&pointer);
            (pointer, good)
        })
        .collect()
}

/// Say when it is.
#[tool]
fn now() -> u64 {
    0
}

#[test]
fn m09_a_tool_without_parameters_has_an_empty_object() {
    let expected = json!({ "type": "object", "properties": {}, "additionalProperties": false });
    assert_eq!(*Now::spec().input_schema, expected);
}

/// Take messages and trees.
#[tool]
fn take(messages: Vec<Said>, one: Said, tree: Tree, trees: HashMap<String, Tree>) -> String {
    format!("{messages:?}{one:?}{tree:?}{trees:?}")
}

#[test]
fn m10_m17_every_reference_resolves_and_definitions_stand_at_the_root() {
    let schema = &Take::spec().input_schema;
    let references = references(schema);
    assert!(!references.is_empty() && references.iter().all(|(_, good)| *good), "{references:?}");
    let text = schema.to_string();
    assert_eq!(text.matches("\"$defs\"").count(), 1, "{text}");
    assert!(schema.get("$defs").is_some());
}

#[test]
fn m18_only_a_recursive_type_is_a_definition() {
    let schema = &Take::spec().input_schema;
    let definitions: Vec<_> = schema["$defs"].as_object().unwrap().keys().collect();
    assert_eq!(definitions, ["Tree"]);
    assert_eq!(schema["properties"]["one"]["properties"]["role"]["enum"], json!(["user", "assistant"]));
}

struct At;

impl JsonSchema for At {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "At".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({ "type": "string", "format": "date-time" })
    }
}

impl<'de> Deserialize<'de> for At {
    fn deserialize<D: tinyagents::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|_| Self)
    }
}

/// Take numbers and times.
#[tool]
fn numbers(n: usize, m: i64, f: f64, g: f32, at: At) -> f64 {
    let At = at;
    n as f64 + m as f64 + f + f64::from(g)
}

#[test]
fn m16_formats_of_rust_are_gone_and_those_of_the_world_stay() {
    let properties = &Numbers::spec().input_schema["properties"];
    assert_eq!(properties["n"], json!({ "type": "integer", "minimum": 0 }));
    assert_eq!(properties["m"], json!({ "type": "integer" }));
    assert_eq!(properties["f"], json!({ "type": "number" }));
    // A larger number would be read as infinity.
    assert_eq!(properties["g"], json!({ "type": "number", "minimum": f32::MIN, "maximum": f32::MAX }));
    assert_eq!(properties["at"], json!({ "type": "string", "format": "date-time" }));
}

/// Take what may be missing.
#[tool]
fn maybe(a: Option<u8>, b: Option<Role>, c: Option<Tree>, d: Vec<Option<u8>>, e: Option<Vec<u8>>) -> String {
    format!("{a:?}{b:?}{c:?}{d:?}{e:?}")
}

#[test]
fn m20_nothing_is_nullable() {
    let schema = &Maybe::spec().input_schema;
    assert!(!schema.to_string().contains("nullable"), "{schema:?}");
    let properties = &schema["properties"];
    assert_eq!(properties["a"], json!({ "type": "integer", "minimum": 0, "maximum": 255 }));
    assert_eq!(properties["b"], json!({ "type": "string", "enum": ["user", "assistant"] }));
    assert_eq!(properties["c"]["type"], "object");
    assert_eq!(schema["required"], json!(["d"]));
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(crate = "tinyagents::serde", deny_unknown_fields)]
#[schemars(crate = "tinyagents::schemars")]
#[allow(dead_code, reason = "as above")]
struct Point {
    x: i32,
    y: Option<f64>,
}

/// Take shapes.
#[tool]
fn shapes(
    p: Point,
    sizes: HashMap<String, i64>,
    role: Role,
    pair: (bool, u8),
    big: u128,
    maybe: Option<Point>,
) -> String {
    format!("{p:?}{sizes:?}{role:?}{pair:?}{big}{maybe:?}")
}

#[test]
fn m26_structs_maps_and_enums_have_whole_schemas() {
    let schema = &Shapes::spec().input_schema;
    assert_eq!(schema["required"], json!(["p", "sizes", "role", "pair", "big"]));
    assert_eq!(schema["properties"]["p"]["required"], json!(["x"]));
    assert_eq!(schema["properties"]["sizes"]["additionalProperties"], json!({ "type": "integer" }));
    assert_eq!(schema["properties"]["role"]["enum"], json!(["user", "assistant"]));
    assert_eq!(schema["properties"]["big"], json!({ "type": "integer", "minimum": 0 }));
    assert_eq!(schema["properties"]["pair"]["prefixItems"][0], json!({ "type": "boolean" }));
    for (name, schema) in schema["properties"].as_object().unwrap() {
        assert!(schema.get("type").is_some() || schema.get("anyOf").is_some(), "{name}: {schema}");
        let untyped =
            schema["type"] == "array" && schema.get("items").is_none() && schema.get("prefixItems").is_none();
        assert!(!untyped, "{name}: {schema}");
    }
}

/// Search.
#[tool]
fn search(
    /// What for.
    query: String,
    #[arg(description = "At most.")] limit: Option<u8>,
    #[inject] run: RunId,
) -> String {
    format!("{query}{limit:?}{run}")
}

#[tokio::test]
async fn m30_m31_m32_what_is_sent_is_what_is_registered() {
    let model = ScriptedModel::new().text("done");
    let mut harness: AgentHarness<()> = AgentHarness::new();
    harness.register_model("default", model.clone()).unwrap().register_tool(Search).unwrap();
    harness.register_tool(Take).unwrap();
    harness.invoke(&(), vec![Message::user("go")]).await.unwrap();
    let sent = model.requests()[0].tools.to_vec();
    assert_eq!(sent, harness.tools().schemas());
    let properties = &sent[0].parameters["properties"];
    assert_eq!(properties["query"]["description"], "What for.");
    assert_eq!(properties["limit"]["description"], "At most.");
    assert_eq!(properties.get("run"), None, "M31: hidden from the first day");
}

/// Whether a schema admits a value, and whether the type reads it.
fn both<T: for<'de> Deserialize<'de>>(schema: &Value, name: &str, value: &Value) -> (bool, bool) {
    let schema = json!({
        "type": "object",
        "properties": { "v": schema["properties"][name] },
        "required": ["v"],
        "$defs": schema.get("$defs").cloned().unwrap_or_else(|| json!({})),
    });
    let validator = Validator::compile(&schema, Validation::Declared).unwrap();
    let admitted = validator.validate(&json!({ "v": value })).is_ok();
    (admitted, T::deserialize(value).is_ok())
}

/// Values near to what the types take. Integers stay within 64 bits: a schema's `integer` has no end.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        prop_oneof![Just(-1_i64), Just(0), Just(255), Just(256), Just(-129), any::<i64>()]
            .prop_map(Value::from),
        prop::sample::select(vec!["user", "assistant", "User", ""]).prop_map(Value::from),
        Just(json!(0.5)),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let key = prop::sample::select(vec!["x", "y", "role", "text", "said", "below", "other"]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::hash_map(key, inner, 0..3).prop_map(|map| json!(map)),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2000,
        rng_seed: prop::test_runner::RngSeed::Fixed(7),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn m22_a_schema_admits_what_its_type_reads_and_nothing_else(value in value()) {
        let shapes = &Shapes::spec().input_schema;
        let take = &Take::spec().input_schema;
        let maybe = &Maybe::spec().input_schema;
        let verdicts = [
            ("map", both::<HashMap<String, i64>>(shapes, "sizes", &value)),
            ("enum", both::<Role>(shapes, "role", &value)),
            ("tuple", both::<(bool, u8)>(shapes, "pair", &value)),
            ("options", both::<Vec<Option<u8>>>(maybe, "d", &value)),
            ("bytes", both::<Vec<u8>>(maybe, "e", &value)),
        ];
        for (name, (admitted, read)) in verdicts {
            prop_assert_eq!(admitted, read, "{}: {}", name, value);
        }
        // A struct reads a list of its fields too, which its schema refuses: no model is told of their order. And a
        // `null` for what may be left out is taken out before the schema sees it.
        let verdicts = [
            ("point", both::<Point>(shapes, "p", &value)),
            ("said", both::<Said>(take, "one", &value)),
            ("list", both::<Vec<Said>>(take, "messages", &value)),
            ("tree", both::<Tree>(take, "tree", &value)),
        ];
        for (name, (admitted, read)) in verdicts {
            prop_assert!(read || !admitted, "{}: {}", name, value);
            let text = value.to_string();
            let is_other_spelling = text.contains('[') || text.contains("null");
            prop_assert!(admitted || !read || is_other_spelling, "{}: {}", name, value);
        }
    }
}

#[tokio::test]
async fn m41_no_tool_knows_of_a_strict_mode() {
    assert!(!serde_json::to_string(&Shapes::spec().schema()).unwrap().contains("strict"));
    assert!(!testkit::call(&Now, &(), json!({})).await.unwrap().is_error);
}
