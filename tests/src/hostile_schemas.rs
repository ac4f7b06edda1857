//! Schemas from outside that mean harm: each is refused when its tool is registered, in a text that names the place and
//! the way out, or it is enforced within bounds of time and stack.
//!
//! Everything runs on a stack of 1 MiB, half of what a worker thread of tokio has; an overflow ends the program. A call
//! that does not come back within a minute fails its test.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use tinyagents::harness::policy::ToolPolicy;
use tinyagents::harness::tool::{
    ArgumentProblem, Arguments, DynTool, JsonSchema, SchemaError, ToolError, ToolRegistry, Validation,
    Validator,
};

mod references;
mod time;

const BOTH: [Validation; 2] = [Validation::Subset, Validation::Full];

/// The most that a text of an error may hold, in bytes.
const TEXT: usize = 2_000;

/// What `work` gives; a panic if it takes a minute.
pub(crate) fn on_small_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (send, receive) = mpsc::channel();
    let thread = std::thread::Builder::new().stack_size(1 << 20);
    thread.spawn(move || send.send(work())).unwrap();
    receive.recv_timeout(Duration::from_secs(60)).expect("it panicked, or takes more than a minute")
}

/// A schema that is never dropped: to drop a very deep value takes more stack than anything here.
fn kept(schema: Value) -> JsonSchema {
    let schema = JsonSchema::from(schema);
    std::mem::forget(schema.clone());
    schema
}

fn compiled(schema: &JsonSchema, validation: Validation) -> Result<Validator, SchemaError> {
    let schema = schema.clone();
    on_small_stack(move || Validator::compile(&schema, validation))
}

/// What registration says of the schema; the same as what the validator says of it.
fn registered(schema: &JsonSchema, validation: Validation) -> Result<(), String> {
    let schema = schema.clone();
    on_small_stack(move || {
        let body = |_: Arguments, _| async { Ok::<_, ToolError>("done") };
        let tool = DynTool::new("outside", schema, ToolPolicy::read_only(), body);
        let mut registry: ToolRegistry<()> = ToolRegistry::new();
        registry.register_external(tool.with_validation(validation)).map_err(|error| error.to_string())
    })
}

/// The text of the refusal, which is bounded and the same at registration.
#[track_caller]
fn refused(name: &str, schema: Value, validation: Validation) -> SchemaError {
    let schema = kept(schema);
    let Err(error) = compiled(&schema, validation) else {
        panic!("{name}: {validation:?} takes it");
    };
    let text = error.to_string();
    assert!(text.len() < TEXT, "{name}: {} bytes", text.len());
    if schema.get("type").is_some_and(|kind| kind == "object") {
        assert_eq!(registered(&schema, validation), Err(format!("tool `outside`: {text}")), "{name}");
    }
    println!("{name}, {validation:?}: {text}");
    error
}

/// An object with one property.
fn object(property: Value) -> Value {
    let mut schema = entry("properties", entry("a", property));
    schema["type"] = json!("object");
    schema
}

/// `levels` times `wrap` around `inner`.
fn nested(levels: usize, inner: Value, wrap: impl Fn(Value) -> Value) -> Value {
    (0..levels).fold(inner, |value, _| wrap(value))
}

/// An object with one entry. Not by `json!`, which would copy the value, level by level.
fn entry(name: &str, value: Value) -> Value {
    Value::Object(Map::from_iter([(name.to_owned(), value)]))
}

/// A schema within another, by each keyword that holds one, and by some that hold none.
fn wrapped(keyword: &str, inner: Value) -> Value {
    match keyword {
        "properties" | "patternProperties" | "$defs" | "dependentSchemas" => {
            entry(keyword, entry("a", inner))
        }
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => entry(keyword, Value::Array(vec![inner])),
        _ => entry(keyword, inner),
    }
}

const HOLDERS: [&str; 22] = [
    "properties",
    "patternProperties",
    "$defs",
    "dependentSchemas",
    "allOf",
    "anyOf",
    "oneOf",
    "prefixItems",
    "items",
    "additionalProperties",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
    "enum",
    "const",
    "x-unknown",
];

#[test]
fn depth_is_bounded_in_every_keyword() {
    let (mut taken, mut refusals) = (0, 0);
    for keyword in HOLDERS {
        for levels in [10, 40, 64, 128, 10_000] {
            let inner = if keyword == "enum" { json!([1]) } else { json!({ "type": "string" }) };
            let wrap = |inner| match keyword {
                "enum" => Value::Array(vec![inner]),
                "const" | "x-unknown" => entry("a", inner),
                _ => wrapped(keyword, inner),
            };
            let mut deep = nested(levels, inner, wrap);
            if matches!(keyword, "enum" | "const" | "x-unknown") {
                deep = entry(keyword, deep);
            }
            let schema = kept(object(deep));
            for validation in [Validation::Subset, Validation::Declared, Validation::Full] {
                match compiled(&schema, validation) {
                    Ok(validator) => {
                        assert!(levels <= 128, "{keyword}: {levels} levels");
                        on_small_stack(move || validator.validate(&json!({ "a": "text" })).is_ok());
                        assert!(registered(&schema, validation).is_ok());
                        taken += 1;
                    }
                    Err(error) => {
                        assert!(levels > 10, "{keyword}: {levels} levels: {error}");
                        assert!(error.reason.contains("too deep"), "{error}");
                        assert!(error.path.starts_with("/properties/a/"), "{error}");
                        assert!(error.to_string().len() < TEXT);
                        assert!(registered(&schema, validation).is_err());
                        refusals += 1;
                    }
                }
            }
        }
    }
    println!("{} keywords: {taken} schemas taken, {refusals} refused", HOLDERS.len());
}

#[test]
fn deep_definitions_that_refer_on_fit_the_stack() {
    let (mut taken, mut refusals) = (0, 0);
    let holders = HOLDERS.iter().filter(|keyword| !matches!(**keyword, "enum" | "const" | "x-unknown"));
    for keyword in holders {
        for levels in [2, 8, 9, 10, 11, 12, 20, 60] {
            let definition = |index: usize| {
                let next = json!({ "$ref": format!("#/$defs/d{}", index + 1) });
                (format!("d{index}"), nested(levels, next, |inner| wrapped(keyword, inner)))
            };
            let mut all: Map<_, _> = (0..60).map(definition).collect();
            all.insert("d60".into(), json!({ "type": "string" }));
            let schema =
                json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/d0" } }, "$defs": all });
            let schema = kept(schema);
            for validation in [Validation::Subset, Validation::Declared, Validation::Full] {
                let Ok(validator) = compiled(&schema, validation) else {
                    refusals += 1;
                    continue;
                };
                taken += 1;
                on_small_stack(move || {
                    for wrap in [|inner| entry("a", inner), |inner| Value::Array(vec![inner])] {
                        let value = entry("a", nested(110, json!("x"), wrap));
                        let _: Result<(), Vec<ArgumentProblem>> = validator.validate(&value);
                    }
                });
            }
        }
    }
    println!("{taken} schemas taken, {refusals} refused");
    assert!(taken > 0 && refusals > 0);
}

#[test]
fn values_that_are_deeper_than_any_text_are_refused_or_not_walked() {
    let tree = json!({
        "type": "object",
        "properties": { "a": { "$ref": "#" } },
        "additionalProperties": { "type": "array", "items": { "$ref": "#" } }
    });
    let shallow = json!({ "type": "object", "properties": { "a": { "type": ["object", "array"] } } });
    let listed = json!({ "type": "object", "properties": { "a": { "enum": [{ "a": {} }, [[]]] } } });
    let unique = json!({ "type": "object", "properties": { "a": { "uniqueItems": true } } });
    for schema in [tree, shallow, listed, unique].map(kept) {
        for wrap in [|inner| entry("a", inner), |inner| Value::Array(vec![inner, json!(1)])] {
            // Never dropped: see `kept`.
            let value: &'static Value = Box::leak(Box::new(entry("a", nested(10_000, json!(5), wrap))));
            for validation in [Validation::Subset, Validation::Declared, Validation::Full] {
                let validator = compiled(&schema, validation).unwrap();
                let verdict = on_small_stack(move || validator.validate(value));
                assert!(verdict.is_err() || validation != Validation::Full);
            }
        }
    }
}

#[test]
fn size_is_bounded() {
    let many = |count: usize, value: fn(usize) -> Value| (0..count).map(value).collect::<Vec<_>>();
    let named = |count: usize, name: fn(usize) -> String| {
        (0..count).map(|index| (name(index), json!({ "type": "string" }))).collect::<Map<_, _>>()
    };
    let cases = [
        ("a million schemas", object(json!({ "properties": named(500_000, |index| format!("p{index}")) }))),
        ("many schemas", object(json!({ "properties": named(30_000, |index| format!("p{index}")) }))),
        ("a million values", object(json!({ "enum": many(1_000_000, |index| json!(index)) }))),
        ("many names", object(json!({ "required": many(1_000_000, |index| json!(index.to_string())) }))),
        ("an unknown keyword", object(json!({ "x": many(1_000_000, |index| json!([index])) }))),
        (
            "long paths",
            object(json!({ "properties": named(300, |index| format!("{index}{}", "n".repeat(20_000))) })),
        ),
    ];
    for (name, schema) in cases {
        for validation in BOTH {
            let error = refused(name, schema.clone(), validation);
            assert!(error.reason.contains("too large"), "{error}");
        }
    }
}

#[test]
fn a_large_enum_and_many_names_are_enforced_within_bounds() {
    let many = |word: &str| (0..150_000).map(|index| json!(format!("{word} {index}"))).collect::<Vec<_>>();
    let cases = [
        ("texts", json!({ "enum": many("a value") }), json!("a value 149999"), json!("a value 15000x")),
        (
            "texts of one type",
            json!({ "type": "string", "enum": many("a value") }),
            json!("a value 149999"),
            json!("a value 15000x"),
        ),
        ("numbers", json!({ "enum": (0..150_000).collect::<Vec<_>>() }), json!(149_999), json!(150_000)),
        ("names", json!({ "type": "object", "required": many("a name") }), json!(null), json!({})),
    ];
    for (name, items, good, bad) in cases {
        let schema = kept(object(json!({ "type": "array", "items": items })));
        let one = if good.is_null() { json!({ "a": [] }) } else { json!({ "a": [good] }) };
        let all = [json!({ "a": vec![good; 2_000] }), json!({ "a": vec![bad; 2_000] })];
        for validation in [Validation::Subset, Validation::Declared, Validation::Full] {
            let validator = compiled(&schema, validation).unwrap();
            let (one, all) = (one.clone(), all.clone());
            let start = Instant::now();
            let (one, all) =
                on_small_stack(move || (validator.validate(&one), all.map(|all| validator.validate(&all))));
            assert!(one.is_ok(), "{name}, {validation:?}: {one:?}");
            for problems in all.map(Result::unwrap_err) {
                let length: usize = problems.iter().map(|problem| problem.to_string().len()).sum();
                println!(
                    "{name}, {validation:?}, {:?}: {} problems in {length} bytes",
                    start.elapsed(),
                    problems.len()
                );
                assert!(problems.len() <= 20 && length < 20_000, "{length}");
            }
        }
    }
}

#[test]
fn wrong_forms_of_keywords_are_refused_where_they_stand() {
    let in_both = [
        ("type", json!(5)),
        ("type", json!("text")),
        ("type", json!(["string", null])),
        ("properties", json!([])),
        ("properties", json!({ "b": 5 })),
        ("required", json!("b")),
        ("required", json!([1])),
        ("items", json!(1)),
        ("items", json!([{ "type": "string" }])),
        ("additionalProperties", json!("no")),
        ("enum", json!("a")),
        ("$ref", json!(5)),
        ("prefixItems", json!({})),
    ];
    for (keyword, value) in in_both {
        for validation in BOTH {
            let error = refused(keyword, object(json!({ keyword: value.clone() })), validation);
            assert!(error.path.starts_with("/properties/a"), "{error}");
        }
    }
    let beyond_the_subset = [
        ("minLength", json!(-1)),
        ("minLength", json!("1")),
        ("maximum", json!("1")),
        ("multipleOf", json!(0)),
        ("anyOf", json!({})),
        ("anyOf", json!([])),
        ("not", json!(5)),
        ("if", json!([])),
        ("pattern", json!(5)),
        ("uniqueItems", json!(1)),
        ("dependentRequired", json!([])),
        ("$dynamicRef", json!(5)),
        ("$anchor", json!("#")),
    ];
    for (keyword, value) in beyond_the_subset {
        let error = refused(keyword, object(json!({ keyword: value })), Validation::Full);
        assert!(error.path.starts_with("/properties/a"), "{error}");
    }
}

#[test]
fn bad_patterns_are_refused_and_bad_texts_do_not_hurt_good_ones() {
    let huge = "x".repeat(1_000_000);
    let bad = ["a{1000}{1000}", "(?=a)b", r"(a)\1", "(", r"\u{110000}", r"\x", &huge];
    let mut refusals = 0;
    for pattern in bad {
        for keyword in ["pattern", "patternProperties"] {
            let value = if keyword == "pattern" { json!(pattern) } else { json!({ pattern: true }) };
            for validation in [Validation::Declared, Validation::Full] {
                refused(keyword, object(json!({ keyword: value.clone() })), validation);
                refusals += 1;
            }
            // Outside of the subset, so nobody reads it.
            assert!(compiled(&kept(object(json!({ keyword: value }))), Validation::Subset).is_ok());
        }
    }
    println!("{refusals} patterns refused");
    for pattern in ["(a+)+$", "^(a|a)*$", "([a-z]+)*b", "a{1,200}a{1,200}$"] {
        for validation in [Validation::Declared, Validation::Full] {
            let validator = compiled(&kept(object(json!({ "pattern": pattern }))), validation).unwrap();
            let text = json!({ "a": format!("{}!", "a".repeat(50_000)) });
            let fits = on_small_stack(move || validator.validate(&text).is_ok());
            assert!(!fits, "{pattern}");
        }
    }
}

#[test]
fn an_error_is_short_whatever_the_schema_holds() {
    let long = "n".repeat(1 << 20);
    let cases = [
        object(json!({ "type": long })),
        object(json!({ "type": [[long]] })),
        object(json!({ "$ref": format!("#/{long}") })),
        object(json!({ "$ref": format!("http://localhost:1/{long}") })),
        object(json!({ "properties": { long.clone(): { "type": "text" } } })),
        object(json!({ "properties": { long.clone(): { "properties": { long.clone(): 5 } } } })),
        object(json!({ "properties": { "é".repeat(1 << 19): 5 } })),
        object(json!({ "required": [{ long.clone(): 1 }] })),
        object(json!({ "enum": long })),
    ];
    for schema in cases {
        for validation in [Validation::Subset, Validation::Declared, Validation::Full] {
            let error = refused("a long text", schema.clone(), validation);
            assert!(error.path.chars().count() <= 201 && error.reason.chars().count() <= 501, "{error}");
        }
    }
    for pattern in [format!("({long}"), format!("({}", "n".repeat(4_000))] {
        for validation in [Validation::Declared, Validation::Full] {
            refused("a long pattern", object(json!({ "pattern": pattern })), validation);
            refused("a long pattern", object(json!({ "patternProperties": { &pattern: true } })), validation);
        }
    }
}
