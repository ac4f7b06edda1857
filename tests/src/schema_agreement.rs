//! Another reader of the same schemas, the `jsonschema` crate, gives the same verdicts, at the same places.
//!
//! Where the two differ by design, it is said here: an integer beyond 64 bits has become a float when its text was
//! parsed, and is refused where an integer is wanted, while the other reader takes every float without a fraction.

use std::collections::BTreeSet;

use jsonschema::error::ValidationErrorKind as Kind;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Value, json};
use tinyagents::harness::tool::{Validation, Validator};

const NAMES: [&str; 5] = ["a", "b", "a/b", "", "~ä"];
const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];
/// Numbers at which readers differ: spelt as floats, at the ends of what is exact, and of 64 bits.
const NUMBERS: [&str; 15] = [
    "0",
    "-0.0",
    "1",
    "1.0",
    "1.5",
    "5.0",
    "-3",
    "9007199254740991.0",
    "9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "9223372036854775808",
    "1e2",
    "2.5e-1",
];

fn number() -> impl Strategy<Value = Value> {
    select(&NUMBERS[..]).prop_map(|text| serde_json::from_str(text).unwrap())
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number(),
        select(&["", "a", "b", "ä", "1"][..]).prop_map(Value::from),
    ]
}

fn object_of(entry: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    vec((select(&NAMES[..]), entry), 0..4).prop_map(|entries| {
        Value::Object(entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    })
}

fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(4, 24, 4, |inner| {
        prop_oneof![vec(inner.clone(), 0..4).prop_map(Value::Array), object_of(inner)]
    })
}

/// Keywords, each there or not, as one schema.
fn all_of(keywords: Vec<Option<(&'static str, Value)>>) -> Value {
    Value::Object(keywords.into_iter().flatten().map(|(name, value)| (name.to_owned(), value)).collect())
}

fn maybe(
    name: &'static str,
    value: impl Strategy<Value = Value> + 'static,
) -> BoxedStrategy<Option<(&'static str, Value)>> {
    proptest::option::weighted(0.35, value.prop_map(move |value| (name, value))).boxed()
}

fn types() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => select(&TYPES[..]).prop_map(Value::from),
        1 => proptest::sample::subsequence(&TYPES[..], 1..4).prop_map(|names| json!(names)),
    ]
}

fn references() -> impl Strategy<Value = Value> {
    select(&["#/$defs/x", "#/$defs/y%20y"][..]).prop_map(Value::from)
}

/// The six keywords, booleans and references.
fn subset(inner: BoxedStrategy<Value>) -> BoxedStrategy<Vec<Option<(&'static str, Value)>>> {
    let keywords = vec![
        maybe("type", types()),
        maybe("properties", object_of(inner.clone())),
        maybe("required", proptest::sample::subsequence(&NAMES[..], 0..3).prop_map(|names| json!(names))),
        maybe("additionalProperties", prop_oneof![Just(json!(false)), Just(json!(true)), inner.clone()]),
        maybe("items", inner),
        maybe("enum", vec(value(), 1..4).prop_map(Value::Array)),
    ];
    keywords.prop_map(|keywords| keywords).boxed()
}

/// Every other keyword of the draft that asserts something.
fn others(inner: BoxedStrategy<Value>) -> BoxedStrategy<Vec<Option<(&'static str, Value)>>> {
    let list = || vec(inner.clone(), 1..3).prop_map(Value::Array);
    let count = || (0..3_u64).prop_map(Value::from);
    let names = || proptest::sample::subsequence(&NAMES[..], 0..3).prop_map(|names| json!(names));
    let pattern = select(&["^a", "b$", "[^a]", ""][..]).prop_map(Value::from);
    let patterns = (select(&["^a", "b", "/"][..]), inner.clone());
    let keywords = vec![
        maybe("allOf", list()),
        maybe("anyOf", list()),
        maybe("oneOf", list()),
        maybe("not", inner.clone()),
        maybe("if", inner.clone()),
        maybe("then", inner.clone()),
        maybe("else", inner.clone()),
        maybe("prefixItems", list()),
        maybe("contains", inner.clone()),
        maybe("minContains", count()),
        maybe("maxContains", count()),
        maybe("propertyNames", inner.clone()),
        maybe("patternProperties", patterns.prop_map(|(pattern, schema)| json!({ pattern: schema }))),
        maybe("dependentSchemas", object_of(inner.clone())),
        maybe("dependentRequired", object_of(names())),
        maybe("unevaluatedProperties", inner.clone()),
        maybe("unevaluatedItems", inner.clone()),
        maybe("const", value()),
        maybe("minimum", number()),
        maybe("exclusiveMaximum", number()),
        maybe("multipleOf", select(vec![json!(1), json!(0.5), json!(2)])),
        maybe("minLength", count()),
        maybe("maxLength", count()),
        maybe("pattern", pattern),
        maybe("minItems", count()),
        maybe("maxItems", count()),
        maybe("uniqueItems", any::<bool>().prop_map(Value::from)),
        maybe("minProperties", count()),
        maybe("maxProperties", count()),
    ];
    keywords.prop_map(|keywords| keywords).boxed()
}

fn schema(all: bool) -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        1 => any::<bool>().prop_map(Value::Bool),
        1 => Just(json!({})),
        3 => types().prop_map(|types| json!({ "type": types })),
        1 => references().prop_map(|target| json!({ "$ref": target })),
    ];
    let part = leaf.prop_recursive(3, 20, 4, move |inner| {
        let inner = inner.boxed();
        let reference = maybe("$ref", references());
        if all {
            let more = proptest::sample::subsequence((0..29).collect::<Vec<_>>(), 0..4);
            (subset(inner.clone()), others(inner), more, reference)
                .prop_map(|(mut keywords, others, chosen, reference)| {
                    let chosen = others.into_iter().enumerate().filter(|(index, _)| chosen.contains(index));
                    keywords.extend(chosen.map(|(_, keyword)| keyword));
                    keywords.push(reference);
                    all_of(keywords)
                })
                .boxed()
        } else {
            (subset(inner), reference)
                .prop_map(|(mut keywords, reference)| {
                    keywords.push(reference);
                    all_of(keywords)
                })
                .boxed()
        }
    });
    (part.clone(), part.clone(), part)
        .prop_map(|(root, x, y)| {
            let mut root = if root.is_object() { root } else { json!({}) };
            root["$defs"] = json!({ "x": x, "y y": y });
            root
        })
        .boxed()
}

/// A value that is near to what a schema asks for.
fn near(schema: &Value, root: &Value, dice: &mut impl Iterator<Item = u8>, depth: usize) -> Value {
    fn roll(dice: &mut impl Iterator<Item = u8>, sides: usize) -> usize {
        usize::from(dice.next().unwrap_or(0)) % sides
    }
    if depth == 0 {
        return json!(1);
    }
    if let Some(values) = schema["enum"].as_array().filter(|_| roll(dice, 4) > 0) {
        return values[roll(dice, values.len())].clone();
    }
    if let Some(target) = schema["$ref"].as_str().filter(|_| roll(dice, 2) > 0) {
        let name = if target.ends_with('x') { "x" } else { "y y" };
        return near(&root["$defs"][name], root, dice, depth - 1);
    }
    let kind = match &schema["type"] {
        Value::String(kind) => kind.as_str(),
        Value::Array(kinds) => kinds[roll(dice, kinds.len())].as_str().unwrap(),
        _ if schema["properties"].is_object() || schema["required"].is_array() => "object",
        _ if !schema["items"].is_null() => "array",
        _ => TYPES[roll(dice, TYPES.len())],
    };
    match kind {
        "null" => Value::Null,
        "boolean" => json!(true),
        "integer" | "number" => serde_json::from_str(NUMBERS[roll(dice, NUMBERS.len())]).unwrap(),
        "string" => json!(["", "a", "b", "ä"][roll(dice, 4)]),
        "array" => (0..roll(dice, 3)).map(|_| near(&schema["items"], root, dice, depth - 1)).collect(),
        _ => {
            let mut object = Map::new();
            for name in NAMES {
                let declared = &schema["properties"][name];
                let is_required = schema["required"].as_array().is_some_and(|all| all.contains(&json!(name)));
                let likely = if declared.is_null() && !is_required { 1 } else { 3 };
                if roll(dice, 4) < likely {
                    object.insert(name.to_owned(), near(declared, root, dice, depth - 1));
                }
            }
            Value::Object(object)
        }
    }
}

/// The other reader; `format` is an annotation.
fn other(schema: &Value) -> jsonschema::Validator {
    jsonschema::options().should_validate_formats(false).build(schema).unwrap()
}

/// Where it sees mistakes. It reports a property that is missing or unknown at its object, and names no unknown one if
/// none is declared.
fn places(other: &jsonschema::Validator, value: &Value) -> BTreeSet<String> {
    let key = |name: &str| format!("/{}", name.replace('~', "~0").replace('/', "~1"));
    let errors = other.iter_errors(value).flat_map(|error| {
        let at = error.instance_path().to_string();
        match error.kind() {
            Kind::Required { property } => vec![at + &key(property.as_str().unwrap())],
            Kind::AdditionalProperties { unexpected } => {
                unexpected.iter().map(|name| at.clone() + &key(name)).collect()
            }
            Kind::FalseSchema if error.schema_path().as_str().ends_with("/additionalProperties") => {
                let object = value.pointer(&at).and_then(Value::as_object);
                object.into_iter().flat_map(Map::keys).map(|name| at.clone() + &key(name)).collect()
            }
            _ => vec![at],
        }
    });
    errors.collect()
}

/// What was compared.
#[derive(Default, Debug)]
struct Counts {
    schemas: usize,
    circles: usize,
    accepted: usize,
    refused: usize,
}

/// Compares both readers on generated schemas, each with values near to it and far from it.
fn compare(cases: u32, all: bool, validation: Validation) -> Counts {
    let mut counts = Counts::default();
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let dice = vec(vec(any::<u8>(), 60), 6);
    let inputs = (schema(all), dice, vec(value(), 2));
    let counted = std::cell::RefCell::new(&mut counts);
    let result = TestRunner::new(config).run(&inputs, |(schema, dice, mut values)| {
        let mut counts = counted.borrow_mut();
        let own = match Validator::compile(&schema, validation) {
            Ok(own) => own,
            Err(error) => {
                prop_assert!(error.reason.contains("leads back to itself"), "{schema}: {error}");
                counts.circles += 1;
                return Ok(());
            }
        };
        counts.schemas += 1;
        let other = other(&schema);
        values.extend(dice.into_iter().map(|dice| near(&schema, &schema, &mut dice.into_iter(), 6)));
        for value in values {
            let verdict = own.validate(&value);
            let is_valid = other.is_valid(&value);
            prop_assert_eq!(verdict.is_ok(), is_valid, "{}\n{}\n{:?}", schema, value, verdict);
            let Err(problems) = verdict else {
                counts.accepted += 1;
                continue;
            };
            counts.refused += 1;
            if validation == Validation::Subset {
                let places = places(&other, &value);
                for problem in problems {
                    prop_assert!(places.contains(&problem.path), "{schema}\n{value}\n{problem:?}");
                }
            }
        }
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    counts
}

#[test]
fn the_subset_agrees_with_another_reader_on_the_six_keywords() {
    let counts = compare(2_000, false, Validation::Subset);
    println!("{counts:?}");
    assert!(counts.accepted > 2_000 && counts.refused > 2_000 && counts.circles < counts.schemas);
}

#[test]
fn full_validation_agrees_with_another_reader_on_every_keyword() {
    let counts = compare(2_000, true, Validation::Full);
    println!("{counts:?}");
    assert!(counts.accepted > 2_000 && counts.refused > 2_000 && counts.circles < counts.schemas);
}

#[test]
fn a_number_beyond_64_bits_is_no_integer_here() {
    let schema = json!({ "type": "integer" });
    for text in ["1e300", "18446744073709551616", "9007199254740992.0"] {
        let value: Value = serde_json::from_str(text).unwrap();
        assert!(other(&schema).is_valid(&value), "{text}");
        for validation in [Validation::Subset, Validation::Full] {
            assert!(Validator::compile(&schema, validation).unwrap().validate(&value).is_err(), "{text}");
        }
    }
}
