//! What a `#[tool_type]`'s schema says and what is read are the same values.
//!
//! The schema is judged by an evaluator of its own, below, so that no mistake of the library's can hide one.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tinyagents::prelude::*;
use tinyagents::testkit;

/// Two numbers, one of them optional, and a nested object.
#[tool_type]
#[derive(Debug)]
struct Plain {
    from: u8,
    to: Option<i16>,
    name: String,
    nested: Nested,
}

#[tool_type]
#[derive(Debug)]
struct Nested {
    on: bool,
    #[serde(default)]
    words: Vec<String>,
}

#[tool_type]
#[derive(Debug)]
#[serde(rename_all = "snake_case")]
enum Names {
    First,
    TheSecond,
}

/// Every kind of variant.
#[tool_type]
#[derive(Debug)]
enum External {
    Unit,
    One(u8),
    Two(u8, bool),
    Named { a: u8, b: Option<bool> },
}

#[tool_type]
#[derive(Debug)]
#[serde(tag = "kind")]
enum Internal {
    Range { from: u8 },
    Word { word: String, loud: bool },
}

#[tool_type]
#[derive(Debug)]
#[serde(tag = "kind", content = "value")]
enum Adjacent {
    Number(u8),
    Named { on: bool },
}

#[tool_type]
#[derive(Debug)]
#[serde(untagged)]
enum Untagged {
    Number(u8),
    Named { on: bool },
    Words(Vec<String>),
}

#[tool_type]
#[derive(Debug)]
struct Collections {
    map: BTreeMap<String, u8>,
    pair: (u8, bool),
    many: Vec<Names>,
    bounded: [bool; 2],
}

/// Each tool gives back what it read.
struct Echo;

#[tools]
impl Echo {
    /// Echo.
    #[tool(read_only, inline)]
    fn plain(value: Plain) -> Plain {
        value
    }

    /// Echo.
    #[tool(read_only, inline)]
    fn names(value: Names) -> Names {
        value
    }

    /// Echo.
    #[tool(read_only, inline)]
    fn external(value: External) -> External {
        value
    }

    /// Echo.
    #[tool(read_only, inline)]
    fn internal(value: Internal) -> Internal {
        value
    }

    /// Echo.
    #[tool(read_only, inline)]
    fn adjacent(value: Adjacent) -> Adjacent {
        value
    }

    /// Echo.
    #[tool(read_only, inline)]
    fn untagged(value: Untagged) -> Untagged {
        value
    }

    /// Echo.
    #[tool(read_only, inline)]
    fn collections(value: Collections) -> Collections {
        value
    }
}

/// Values that fit one of the types, or nearly.
fn seeds() -> Vec<Value> {
    vec![
        json!({ "from": 1, "to": -5, "name": "a", "nested": { "on": true, "words": ["x"] } }),
        json!({ "from": 255, "name": "", "nested": { "on": false } }),
        json!({ "from": 0, "to": null, "name": "b", "nested": { "on": false, "words": [] } }),
        json!("first"),
        json!("the_second"),
        json!("Unit"),
        json!({ "One": 3 }),
        json!({ "Two": [3, true] }),
        json!({ "Named": { "a": 1, "b": true } }),
        json!({ "Named": { "a": 1 } }),
        json!({ "kind": "Range", "from": 3 }),
        json!({ "kind": "Word", "word": "x", "loud": true }),
        json!({ "kind": "Number", "value": 3 }),
        json!({ "kind": "Named", "value": { "on": true } }),
        json!({ "on": true }),
        json!(["a", "b"]),
        json!(7),
        json!({ "map": { "k": 1 }, "pair": [1, true], "many": ["first"], "bounded": [true, false] }),
    ]
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-300_i64..300).prop_map(Value::from),
        (-300_i64..300).prop_map(|n| Value::from(n as f64 + 0.5)),
        prop_oneof!["[a-z]{0,3}", Just("first".to_owned()), Just("Range".to_owned())].prop_map(Value::from),
        proptest::sample::select(seeds()),
    ]
}

/// A seed with up to three changes somewhere in it.
fn value() -> impl Strategy<Value = Value> {
    let change = (any::<prop::sample::Index>(), leaf(), 0..4_u8, "[a-z]{1,2}|from|on|kind|value|words");
    (proptest::sample::select(seeds()), prop::collection::vec(change, 0..3)).prop_map(
        |(mut value, changes)| {
            for (at, leaf, how, key) in changes {
                let mut places = Vec::new();
                paths(&value, String::new(), &mut places);
                let Some(place) = value.pointer_mut(at.get::<String>(&places)) else { continue };
                match (how, place) {
                    (0, Value::Object(object)) => {
                        object.insert(key, leaf);
                    }
                    (1, Value::Object(object)) => {
                        let first = object.keys().next().cloned().unwrap_or_default();
                        object.remove(&first);
                    }
                    (0, Value::Array(items)) => items.push(leaf),
                    (1, Value::Array(items)) => {
                        items.pop();
                    }
                    (_, place) => *place = leaf,
                }
            }
            value
        },
    )
}

fn paths(value: &Value, here: String, found: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            object.iter().for_each(|(key, value)| paths(value, format!("{here}/{key}"), found))
        }
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(index, value)| paths(value, format!("{here}/{index}"), found));
        }
        _ => {}
    }
    found.push(here);
}

/// JSON Schema 2020-12, as far as the types above use it; another keyword fails the test.
fn admits(root: &Value, schema: &Value, value: &Value) -> bool {
    let Value::Object(schema) = schema else { return schema.as_bool().expect("a schema") };
    let known = ["properties", "prefixItems", "title", "description", "default", "$defs", "format"];
    schema.iter().all(|(keyword, rule)| match keyword.as_str() {
        "$ref" => {
            let pointer = rule.as_str().and_then(|path| path.strip_prefix('#')).expect("a local reference");
            admits(root, root.pointer(pointer).expect("the reference resolves"), value)
        }
        "type" => match rule {
            Value::Array(kinds) => kinds.iter().any(|kind| is(kind, value)),
            kind => is(kind, value),
        },
        "enum" => rule.as_array().expect("a list").contains(value),
        "const" => rule == value,
        "oneOf" => {
            rule.as_array().expect("a list").iter().filter(|one| admits(root, one, value)).count() == 1
        }
        "anyOf" => rule.as_array().expect("a list").iter().any(|one| admits(root, one, value)),
        "minimum" => value.as_f64().is_none_or(|number| Some(number) >= rule.as_f64()),
        "maximum" => value.as_f64().is_none_or(|number| Some(number) <= rule.as_f64()),
        "minItems" => {
            value.as_array().is_none_or(|items| items.len() as u64 >= rule.as_u64().expect("a count"))
        }
        "maxItems" => {
            value.as_array().is_none_or(|items| items.len() as u64 <= rule.as_u64().expect("a count"))
        }
        "required" => value.as_object().is_none_or(|object| {
            rule.as_array()
                .expect("a list")
                .iter()
                .all(|key| object.contains_key(key.as_str().expect("a key")))
        }),
        "items" => value.as_array().is_none_or(|items| {
            let own = schema.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
            items.iter().skip(own).all(|item| admits(root, rule, item))
        }),
        "additionalProperties" => value.as_object().is_none_or(|object| {
            let named = schema.get("properties").and_then(Value::as_object);
            let more = object.iter().filter(|(key, _)| named.is_none_or(|named| !named.contains_key(*key)));
            more.into_iter().all(|(_, value)| admits(root, rule, value))
        }),
        other => known.contains(&other) || panic!("the evaluator does not know `{other}`"),
    }) && parts(root, schema, value)
}

fn parts(root: &Value, schema: &Map<String, Value>, value: &Value) -> bool {
    let named = schema.get("properties").and_then(Value::as_object).zip(value.as_object());
    let placed = schema.get("prefixItems").and_then(Value::as_array).zip(value.as_array());
    named.is_none_or(|(schemas, object)| {
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        let required: Vec<_> = required.collect();
        // `null` for what may be left out is another way to leave it out.
        let left_out =
            |key: &String, value: &Value| value.is_null() && !required.iter().any(|name| *name == key);
        schemas.iter().all(|(key, schema)| {
            object.get(key).is_none_or(|value| admits(root, schema, value) || left_out(key, value))
        })
    }) && placed.is_none_or(|(schemas, items)| {
        schemas.iter().zip(items).all(|(schema, item)| admits(root, schema, item))
    })
}

fn is(kind: &Value, value: &Value) -> bool {
    match kind.as_str().expect("a type's name") {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("`{other}` is no type"),
    }
}

fn check(tool: &Arc<dyn Tool<()>>, value: &Value) -> Result<(), TestCaseError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let schema = tool.spec().input_schema;
    let arguments = json!({ "value": value });
    let admitted = admits(&schema, &schema, &arguments);
    let result = runtime.block_on(testkit::call(tool, &(), arguments)).expect("a call has a result");
    prop_assert_eq!(
        admitted,
        !result.is_error,
        "{} {} {:?} {}",
        tool.spec().name,
        value,
        result.content,
        *schema
    );
    if let Some(back) = result.value.filter(|_| admitted) {
        let again = runtime.block_on(testkit::call(tool, &(), json!({ "value": back })));
        prop_assert_eq!(again.expect("a call has a result").value, Some(back), "what was written is read");
    }
    Ok(())
}

/// Every seed is good for at least one of the tools, so that the property below is not about refusals alone.
#[test]
fn every_type_takes_one_of_the_seeds() {
    for tool in Echo::tools::<(), ()>() {
        let schema = tool.spec().input_schema;
        let taken = seeds().iter().filter(|seed| admits(&schema, &schema, &json!({ "value": seed }))).count();
        assert!(taken > 0, "{}: {}", tool.spec().name, *schema);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, rng_seed: prop::test_runner::RngSeed::Fixed(22), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn m22_what_the_schema_admits_is_read_and_nothing_else(value in value()) {
        for tool in &Echo::tools::<(), ()>() {
            check(tool, &value)?;
        }
    }
}
