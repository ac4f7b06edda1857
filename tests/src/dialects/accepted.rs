//! What comes out passes the checker of its provider, and no value is lost without a note.

use proptest::prelude::*;
use tinyagents::harness::tool::ToolSchema;
use tinyagents::harness::tool::dialect::{Adapted, LossyAction};

use super::checker::refusal;
use super::{SchemaDialect, Value, json, shapes};
use crate::schemars_shapes::data;

fn functions() -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/corpora/bfcl/functions.jsonl");
    let text = std::fs::read_to_string(path)
        .unwrap_or_else(|_| include_str!("../../data/bfcl/functions.jsonl").to_string());
    text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["parameters"].take()).collect()
}

/// The name of the rules that an adapted schema must keep.
fn judged_as(dialect: &SchemaDialect, adapted: &Adapted) -> &'static str {
    match &dialect.relaxed {
        Some(relaxed) if !adapted.strict_ok => relaxed.name,
        _ => dialect.name,
    }
}

pub(super) fn accepted(dialect: &SchemaDialect, schema: &Value) -> Adapted {
    let adapted = dialect.adapt(schema);
    if let Some(why) = refusal(judged_as(dialect, &adapted), &adapted.schema) {
        panic!("{why}\nfrom {schema}\nto {}", adapted.schema);
    }
    adapted
}

#[test]
fn every_dialect_passes_its_checker() {
    let dialects = SchemaDialect::all();
    let schemas: Vec<Value> = shapes().into_iter().map(|(_, schema)| schema).chain(functions()).collect();
    let (mut notes, mut strict) = (0, 0);
    for dialect in &dialects {
        for schema in &schemas {
            let adapted = accepted(dialect, schema);
            notes += adapted.notes.len();
            strict += usize::from(adapted.strict_ok);
        }
    }
    println!(
        "dialects: {} dialects, {} schemas, {notes} lossy notes; 0 refused by a checker",
        dialects.len(),
        schemas.len()
    );
    assert!(strict > schemas.len(), "only {strict} are strict");
}

#[test]
fn each_checker_refuses_what_schemars_writes_and_a_strict_one_some_canonical_shapes() {
    let canonical: Vec<(String, Value)> = data("canonical.json").into_iter().collect();
    for dialect in SchemaDialect::all() {
        let refused = |shapes: &[(String, Value)]| -> Vec<String> {
            let refused = shapes.iter().filter(|(_, schema)| refusal(dialect.name, schema).is_some());
            refused.map(|(name, _)| name.clone()).collect()
        };
        assert!(!refused(&shapes()).is_empty(), "{} takes everything", dialect.name);
        if dialect.strict {
            let refused = refused(&canonical);
            println!(
                "{} refuses {} of {}: {}",
                dialect.name,
                refused.len(),
                canonical.len(),
                refused.join(", ")
            );
            assert!(!refused.is_empty(), "{}", dialect.name);
        }
    }
}

#[test]
fn a_removed_rule_is_told_once() {
    let canonical = json!({
        "type": "object",
        "properties": {
            "limit": { "type": "integer", "description": "How many.", "minimum": 1, "maximum": 100 },
        },
        "required": ["limit"],
    });
    let adapted = SchemaDialect::anthropic_strict().adapt(&canonical);
    assert_eq!(adapted.schema["properties"]["limit"]["description"], "How many. (minimum: 1, maximum: 100)");
    let again = SchemaDialect::anthropic_strict().adapt(&adapted.schema);
    assert_eq!(again.schema, adapted.schema);
}

#[test]
fn a_set_stays_within_what_its_provider_allows() {
    let plain = json!({ "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"] });
    let optional = json!({ "type": "object", "properties": { "a": { "type": "string" } } });
    let tools = |count: usize, schema: &Value| -> Vec<_> {
        (0..count).map(|n| ToolSchema::new(format!("t{n}"), "It.", schema.clone())).collect()
    };
    let strict = |dialect: &SchemaDialect, tools: &[ToolSchema]| {
        let set = dialect.adapt_all(tools);
        assert_eq!(set.tools.len(), tools.len());
        for tool in set.tools.iter().filter(|tool| !tool.strict) {
            assert_eq!(tool.notes[0].action, LossyAction::NotStrict);
        }
        set.tools.iter().filter(|tool| tool.strict).count()
    };
    let anthropic = SchemaDialect::anthropic_strict();
    assert_eq!(strict(&anthropic, &tools(25, &plain)), 20);
    let mut many = json!({ "type": "object", "properties": {} });
    for n in 0..10 {
        many["properties"][format!("p{n}")] = json!({ "type": "string" });
    }
    assert_eq!(strict(&anthropic, &tools(5, &many)), 2);
    let mut wide = tools(3, &plain);
    wide[1] = ToolSchema::new(
        "wide",
        "It.",
        json!({ "type": "object", "properties": { "a": { "enum": (0..1_001).collect::<Vec<_>>() } } }),
    );
    assert_eq!(strict(&SchemaDialect::openai_strict(), &wide), 2);
    assert_eq!(SchemaDialect::openai().adapt_all(&tools(129, &optional)).notes[0].keyword, "tools");
    assert!(SchemaDialect::openai().adapt_all(&tools(128, &optional)).notes.is_empty());
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({ "type": "string" })),
        (0u64..3, 3u64..3_000)
            .prop_map(|(min, max)| json!({ "type": "string", "minLength": min, "maxLength": max })),
        Just(json!({ "type": "string", "pattern": "^[a-z]+$", "minLength": 1 })),
        Just(json!({ "type": "string", "format": "date" })),
        Just(json!({ "type": "string", "format": "uri", "description": "Where." })),
        Just(json!({ "type": "string", "enum": ["a", "b"] })),
        Just(json!({ "type": "integer", "enum": [1, 2] })),
        (-5i64..5).prop_map(|min| json!({ "type": "integer", "minimum": min, "maximum": 9 })),
        (-5i64..5).prop_map(|min| json!({ "type": "integer", "exclusiveMinimum": min, "multipleOf": 2 })),
        Just(json!({ "type": "number", "exclusiveMaximum": 3.5 })),
        Just(json!({ "type": "boolean", "default": true })),
        Just(json!({ "$ref": "#/$defs/Node" })),
        Just(json!({ "$ref": "#/$defs/Pair", "description": "Two." })),
        Just(json!({})),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            (inner.clone(), 0u64..3)
                .prop_map(|(items, min)| json!({ "type": "array", "items": items, "minItems": min })),
            inner.clone().prop_map(|items| json!({ "type": "array", "items": items, "uniqueItems": true })),
            inner.clone().prop_map(|values| json!({ "type": "object", "additionalProperties": values })),
            (inner.clone(), inner.clone()).prop_map(
                |(a, b)| json!({ "type": "array", "prefixItems": [a, b], "minItems": 2, "maxItems": 2 })
            ),
            inner.clone().prop_map(|one| json!({ "anyOf": [one, { "type": "null" }] })),
            object(inner.clone()),
            (object(inner.clone()), object(inner)).prop_map(|(mut a, mut b)| {
                for (tag, arm) in [("a", &mut a), ("b", &mut b)] {
                    arm["properties"]["kind"] = json!({ "type": "string", "const": tag });
                    arm["required"].as_array_mut().unwrap().push("kind".into());
                }
                json!({ "oneOf": [a, b] })
            }),
        ]
    })
}

fn object(inner: impl Strategy<Value = Value> + 'static) -> impl Strategy<Value = Value> {
    let properties = proptest::collection::btree_map("[xyz]|odd name", (inner, any::<bool>()), 0..4);
    properties.prop_map(|properties| {
        let required: Vec<_> = properties.iter().filter(|(_, (_, is))| *is).map(|(name, _)| name.clone()).collect();
        let properties: serde_json::Map<_, _> =
            properties.into_iter().map(|(name, (schema, _))| (name, schema)).collect();
        json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
    })
}

pub(super) fn canonical() -> impl Strategy<Value = Value> {
    object(schema()).prop_map(|mut root| {
        root["$defs"] = json!({
            "Node": {
                "type": "object",
                "properties": { "value": { "type": "integer" }, "next": { "$ref": "#/$defs/Node" } },
                "required": ["value"],
                "additionalProperties": false,
            },
            "Pair": {
                "type": "object",
                "properties": { "left": { "type": "string" }, "right": { "type": "number" } },
                "required": ["left"],
                "additionalProperties": false,
            },
        });
        root
    })
}

/// A value that a schema asks for, chosen by the bits of a number.
pub(super) fn value(schema: &Value, root: &Value, bits: &mut u64, depth: usize) -> Value {
    let mut pick = |count: u64| {
        *bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*bits >> 33) % count
    };
    if let Some(target) = schema.get("$ref") {
        return value(root.pointer(&target.as_str().unwrap()[1..]).unwrap(), root, bits, depth + 1);
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(Value::Array(arms)) = schema.get(keyword) {
            let arm = &arms[pick(arms.len() as u64) as usize];
            return value(arm, root, bits, depth + 1);
        }
    }
    if let Some(Value::Array(values)) = schema.get("enum") {
        return values[pick(values.len() as u64) as usize].clone();
    }
    if let Some(only) = schema.get("const") {
        return only.clone();
    }
    let name = match &schema["type"] {
        Value::Array(names) => names[pick(names.len() as u64) as usize].as_str(),
        name => name.as_str(),
    };
    match name {
        Some("null") => Value::Null,
        Some("boolean") => json!(pick(2) == 0),
        Some("integer") => json!(pick(14) as i64 - 4),
        Some("number") => json!(pick(8) as f64 / 2.0),
        Some("string") if schema["format"] == "date" => json!("2025-01-31"),
        Some("string") => json!(["abc", "de", "", "fgh1"][pick(4) as usize]),
        Some("array") => {
            let count = schema["prefixItems"].as_array().map_or(pick(4), |prefix| prefix.len() as u64);
            let of = |n: usize| schema["prefixItems"].get(n).or(schema.get("items")).unwrap_or(&Value::Null);
            (0..count).map(|n| value(of(n as usize), root, bits, depth + 1)).collect()
        }
        Some("object") => {
            let mut object = serde_json::Map::new();
            let required = schema["required"].as_array().cloned().unwrap_or_default();
            for (name, own) in schema["properties"].as_object().into_iter().flatten() {
                let must = required.iter().any(|required| required == name.as_str());
                *bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
                if must || (depth < 8 && (*bits >> 40) % 2 == 0) {
                    object.insert(name.clone(), value(own, root, bits, depth + 1));
                }
            }
            if schema["additionalProperties"].is_object() {
                object.insert("key".into(), value(&schema["additionalProperties"], root, bits, depth + 1));
            }
            Value::Object(object)
        }
        _ => json!("anything"),
    }
}

/// `nullable` in words that a validator knows.
pub(super) fn as_json_schema(schema: &Value) -> Value {
    match schema {
        Value::Object(object) => {
            let mut out: serde_json::Map<String, Value> =
                object.iter().map(|(key, value)| (key.clone(), as_json_schema(value))).collect();
            if out.get("nullable") == Some(&Value::Bool(true)) {
                out.shift_remove("nullable");
                return json!({ "anyOf": [out, { "type": "null" }] });
            }
            Value::Object(out)
        }
        Value::Array(list) => list.iter().map(as_json_schema).collect(),
        other => other.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_schemas_pass_and_what_is_lost_has_a_note(canonical in canonical(), seed in any::<u64>()) {
        let judge = jsonschema::validator_for(&canonical).unwrap();
        for dialect in SchemaDialect::all() {
            let adapted = accepted(&dialect, &canonical);
            let shown = jsonschema::validator_for(&as_json_schema(&adapted.schema)).unwrap();
            let mut bits = seed;
            for _ in 0..8 {
                // From the provider: with nothing lost, what it lets through is valid.
                let sent = value(&adapted.schema, &adapted.schema, &mut bits, 0);
                if shown.is_valid(&sent) && adapted.notes.is_empty() {
                    let back = dialect.map_back(sent.clone(), &canonical);
                    prop_assert!(judge.is_valid(&back), "{}: {sent} as {back}\n{canonical}", dialect.name);
                }
                // To the provider: what is valid can be sent, or a note says that it cannot.
                let meant = value(&canonical, &canonical, &mut bits, 0);
                let narrowed = adapted.notes.iter().any(|note| note.action == LossyAction::Narrowed);
                let renamed = canonical.to_string().contains("odd name") && dialect.property_name.is_some();
                if judge.is_valid(&meant) && !narrowed && !renamed {
                    let sent = match adapted.strict_ok && dialect.require_all {
                        true => with_nulls(meant.clone(), &adapted.schema, &adapted.schema),
                        false => meant.clone(),
                    };
                    prop_assert!(
                        shown.is_valid(&sent),
                        "{}: {sent}\n{canonical}\n{}", dialect.name, adapted.schema
                    );
                    let back = dialect.map_back(sent.clone(), &canonical);
                    prop_assert!(back == meant, "{}: {meant} came back as {back}\n{canonical}", dialect.name);
                }
            }
        }
    }
}

/// What a model sends that must name every property.
pub(super) fn with_nulls(mut sent: Value, schema: &Value, root: &Value) -> Value {
    if let Some(target) = schema.get("$ref") {
        return with_nulls(sent, root.pointer(&target.as_str().unwrap()[1..]).unwrap(), root);
    }
    for arm in schema["anyOf"].as_array().into_iter().flatten() {
        let filled = with_nulls(sent.clone(), arm, root);
        let mut alone = arm.clone();
        if let (Some(alone), Some(definitions)) = (alone.as_object_mut(), root.get("$defs")) {
            alone.insert("$defs".into(), definitions.clone());
        }
        if jsonschema::is_valid(&alone, &filled) {
            return filled;
        }
    }
    match &mut sent {
        Value::Object(object) => {
            for (name, own) in schema["properties"].as_object().into_iter().flatten() {
                let value = object.remove(name).unwrap_or(Value::Null);
                object
                    .insert(name.clone(), if value.is_null() { value } else { with_nulls(value, own, root) });
            }
        }
        Value::Array(items) => {
            for item in items {
                *item = with_nulls(item.take(), &schema["items"], root);
            }
        }
        _ => {}
    }
    sent
}

#[test]
fn a_name_that_no_provider_takes_is_replaced_and_comes_back() {
    let canonical = json!({
        "type": "object",
        "properties": { "$odd name": { "type": "string" }, "_odd_name": { "type": "integer" }, "1": { "type": "null" } },
        "required": ["$odd name"],
    });
    let adapted = SchemaDialect::gemini().adapt(&canonical);
    let names: Vec<_> = adapted.schema["properties"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(names, ["_odd_name_2", "_odd_name", "_1"]);
    assert_eq!(adapted.schema["required"], json!(["_odd_name_2"]));
    let back = SchemaDialect::gemini()
        .map_back(json!({ "_odd_name_2": "x", "_odd_name": 1, "_1": null }), &canonical);
    assert_eq!(back, json!({ "$odd name": "x", "_odd_name": 1, "1": null }));
}
