//! The enforced subset of JSON Schema, decided by JSON-Schema-Test-Suite.

use serde_json::{Value, json};
use tinyagents::harness::tool::{Validation, Validator};

use crate::json_schema_suite::in_subset;

/// A file of the suite, or the extract that is kept beside the tests.
fn suite(keyword: &str) -> Vec<Value> {
    let whole = format!(
        "{}/../../shared/corpora/json-schema-test-suite/tests/draft2020-12/{keyword}.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let extract = format!("{}/data/json-schema-test-suite/{keyword}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(whole).unwrap_or_else(|_| {
        println!("{keyword}: the whole suite is not beside the repository; running the extract");
        std::fs::read_to_string(&extract).unwrap_or_else(|error| panic!("{extract}: {error}"))
    });
    serde_json::from_str(&text).unwrap()
}

/// Runs the groups of a file that use only the six keywords; gives how many tests ran.
#[track_caller]
fn run(keyword: &str) -> usize {
    let mut ran = 0;
    for group in suite(keyword).iter().filter(|group| in_subset(&group["schema"])) {
        let validator = Validator::compile(&group["schema"], Validation::Subset).unwrap();
        for test in group["tests"].as_array().unwrap() {
            let valid = validator.validate(&test["data"]);
            let name = format!("{keyword}: {}: {}", group["description"], test["description"]);
            assert_eq!(valid.is_ok(), test["valid"], "{name}: {valid:?}");
            ran += 1;
        }
    }
    println!("{keyword}: {ran} tests");
    assert!(ran > 0, "{keyword}: no test ran");
    ran
}

#[test]
fn s50_types_are_checked() {
    run("type");
}

#[test]
fn s51_object_properties_are_checked() {
    run("properties");
}

#[test]
fn s52_required_fields_are_checked() {
    run("required");
}

#[test]
fn s53_closed_objects_are_checked() {
    run("additionalProperties");
    let closed = json!({ "type": "object", "additionalProperties": false });
    let validator = Validator::compile(&closed, Validation::Subset).unwrap();
    let problems = validator.validate(&json!({ "a": 1 })).unwrap_err();
    assert_eq!(problems[0].to_string(), "`a`: expected no arguments, got unknown argument `a`");
    assert!(validator.validate(&json!({})).is_ok());
}

#[test]
fn s54_array_items_are_checked() {
    run("items");
}

#[test]
fn s55_enums_are_checked() {
    run("enum");
}

#[test]
fn s56_declared_bounds_are_enforced_and_foreign_ones_are_not() {
    let schema = json!({
        "type": "object",
        "properties": {
            "limit": { "type": "integer", "minimum": 1, "maximum": 50 },
            "name": { "type": "string", "minLength": 2, "maxLength": 3 },
            "tags": { "type": "array", "minItems": 1, "items": { "type": "string" } },
            "unit": { "oneOf": [{ "const": "c" }, { "const": "f" }] },
            "by_key": { "type": "object", "additionalProperties": { "type": "integer" } }
        }
    });
    let foreign = Validator::compile(&schema, Validation::Subset).unwrap();
    let declared = Validator::compile(&schema, Validation::Declared).unwrap();
    let broken = [
        (json!({ "limit": 51 }), "`limit`: expected a number between 1 and 50, got 51"),
        (json!({ "limit": 0 }), "`limit`: expected a number between 1 and 50, got 0"),
        (json!({ "name": "é" }), "`name`: expected between 2 and 3 characters, got 1 characters"),
        (json!({ "tags": [] }), "`tags`: expected at least 1 items, got 0 items"),
        (json!({ "unit": "k" }), "`unit`: expected \"c\" or \"f\", got string \"k\""),
    ];
    for (value, expected) in broken {
        assert!(foreign.validate(&value).is_ok(), "{value}");
        assert_eq!(declared.validate(&value).unwrap_err()[0].to_string(), expected);
    }
    // A schema for undeclared keys is of the subset.
    let value = json!({ "by_key": { "x": "1" } });
    for validator in [&foreign, &declared] {
        let problems = validator.validate(&value).unwrap_err();
        assert_eq!(problems[0].to_string(), "`by_key.x`: expected integer, got string \"1\"");
    }
    let good = json!({ "limit": 50, "name": "éé", "tags": ["a"], "unit": "f", "by_key": { "x": 1 } });
    assert!(declared.validate(&good).is_ok());
}

/// What `#[arg]` can declare beside the subset, decided by the suite as well.
#[test]
fn declared_patterns_formats_and_sizes_are_enforced() {
    let keywords = ["pattern", "minProperties", "maxProperties", "exclusiveMinimum", "exclusiveMaximum"];
    let formats = ["date-time", "date", "time", "uuid", "ipv4", "ipv6", "email"];
    let formats = formats.map(|format| format!("optional/format/{format}"));
    for file in keywords.map(String::from).into_iter().chain(formats) {
        for group in suite(&file) {
            if group["schema"].to_string().contains("\\p{") {
                continue; // refused: see `a_pattern_that_cannot_be_enforced_is_refused`
            }
            let declared = Validator::compile(&group["schema"], Validation::Declared).unwrap();
            let foreign = Validator::compile(&group["schema"], Validation::Subset).unwrap();
            for test in group["tests"].as_array().unwrap() {
                let name =
                    format!("{file}: {}: {}: {}", group["description"], test["description"], test["data"]);
                assert_eq!(declared.validate(&test["data"]).is_ok(), test["valid"], "{name}");
                assert!(foreign.validate(&test["data"]).is_ok(), "{name}: not of the subset");
            }
        }
    }
}

#[test]
fn a_pattern_that_cannot_be_enforced_is_refused() {
    let schema = json!({ "type": "object", "properties": { "a": { "type": "string", "pattern": "(?=x)" } } });
    let error = Validator::compile(&schema, Validation::Declared).unwrap_err();
    assert_eq!(error.path, "/properties/a");
    assert!(
        error.reason.contains("`(?=x)` is no regular expression: look-around is not supported"),
        "{error}"
    );
    assert!(Validator::compile(&schema, Validation::Subset).is_ok());
}

#[test]
fn recursive_schemas_are_checked_all_the_way_down() {
    let schema = json!({
        "$ref": "#/$defs/Tree",
        "$defs": { "Tree": {
            "type": "object",
            "properties": {
                "value": { "type": "integer" },
                "children": { "type": "array", "items": { "$ref": "#/$defs/Tree" } }
            },
            "required": ["value"]
        } }
    });
    let validator = Validator::compile(&schema, Validation::Declared).unwrap();
    assert!(validator.validate(&json!({ "value": 1, "children": [{ "value": 2, "children": [] }] })).is_ok());
    let problems = validator
        .validate(&json!({ "value": 1, "children": [{ "children": [{ "value": "x" }] }] }))
        .unwrap_err();
    let paths: Vec<_> = problems.iter().map(|problem| problem.path.as_str()).collect();
    assert_eq!(paths, ["/children/0/value", "/children/0/children/0/value"], "all problems, not the first");
}

#[test]
fn what_is_reported_is_bounded() {
    let schema = json!({ "type": "array", "items": { "type": "integer" } });
    let validator = Validator::compile(&schema, Validation::Subset).unwrap();
    let value = Value::Array(vec![json!("x".repeat(10_000)); 5_000]);
    let problems = validator.validate(&value).unwrap_err();
    assert!(problems.len() <= 20);
    assert!(problems.iter().all(|problem| problem.to_string().len() < 200));
}

#[test]
fn paths_are_json_pointers() {
    let schema = json!({ "type": "object", "additionalProperties": false, "properties": {} });
    let validator = Validator::compile(&schema, Validation::Subset).unwrap();
    let value = json!({ "a/b~c": 1 });
    let path = validator.validate(&value).unwrap_err()[0].path.clone();
    assert_eq!(path, "/a~1b~0c");
    assert_eq!(value.pointer(&path), Some(&json!(1)));
}

/// Most calls are judged at a glance. Behind a reference, nothing is: so the two must agree.
#[test]
fn what_fits_at_a_glance_is_what_the_whole_check_takes() {
    let leaves = [
        json!({}),
        json!({ "type": "string" }),
        json!({
            "type": "string",
            "enum": ["a", "four", "tiger", "eight888", "sixteen-letters-", "seventeen-letters", "é"]
        }),
        json!({ "type": "string", "enum": ["a", 1] }),
        json!({ "enum": ["a", 1, null] }),
        json!({ "type": "string", "minLength": 2 }),
        json!({ "type": "string", "maxLength": 1 }),
        json!({ "type": "string", "pattern": "^a" }),
        json!({ "type": "string", "format": "date" }),
        json!({ "type": "integer" }),
        json!({ "type": "integer", "minimum": 1 }),
        json!({ "type": "integer", "maximum": 4 }),
        json!({ "type": "integer", "minimum": 0.5, "maximum": 4 }),
        json!({ "type": "integer", "exclusiveMinimum": 1 }),
        json!({ "type": "integer", "maximum": u64::MAX }),
        json!({ "type": "number" }),
        json!({ "type": "number", "maximum": 4 }),
        json!({ "type": "number", "exclusiveMaximum": 5 }),
        json!({ "type": "boolean" }),
        json!({ "type": "boolean", "enum": [true] }),
        json!({ "type": "null" }),
        json!({ "type": ["string", "null"] }),
        json!({ "type": [] }),
        json!({ "type": "array" }),
        json!({ "type": "array", "minItems": 1 }),
        json!({ "type": "array", "prefixItems": [{ "type": "null" }], "items": { "type": "integer" } }),
        json!({ "type": "object" }),
        json!({ "type": "object", "maxProperties": 0 }),
        json!({ "type": "object", "required": ["other"] }),
        json!({ "type": "object", "additionalProperties": { "type": "integer" } }),
        json!({ "type": "object", "patternProperties": { "^a": { "type": "integer" } } }),
        json!({ "anyOf": [{ "type": "integer" }, { "type": "null" }] }),
        json!({ "type": "integer", "anyOf": [{ "minimum": 3 }] }),
        json!({ "type": "integer", "not": { "enum": [5] } }),
    ];
    let names = ["a", "abcd", "abcX", "eight888", "eight8X8", "sixteen-letters-", "seventeen-letters"];
    let objects = leaves.iter().flat_map(|leaf| {
        let properties = |count: usize| {
            Value::Object(names[..count].iter().map(|name| ((*name).to_string(), leaf.clone())).collect())
        };
        [
            json!({ "type": "array", "items": leaf }),
            json!({ "type": "object", "properties": properties(1) }),
            json!({ "type": "object", "properties": properties(1), "required": ["a"] }),
            json!({ "type": "object", "properties": properties(2), "additionalProperties": false }),
            json!({ "type": "object", "properties": properties(7), "required": ["a", "eight888"] }),
        ]
    });
    let schemas: Vec<Value> = leaves.iter().cloned().chain(objects).collect();

    let texts = "a four Xour fouX fourfour tiger Xiger eight888 eight88X sixteen-letters- sixteen-lettersX \
                 Xixteen-letters- seventeen-letters seventeen-lettersX é 2026-12-01";
    let scalars = texts
        .split(' ')
        .map(Value::from)
        .chain([json!(null), json!(true), json!(false), json!(0), json!(1), json!(4), json!(5), json!(-1)])
        .chain([json!(5.0), json!(1.5), json!(1e300), json!(i64::MIN), json!(i64::MAX), json!(u64::MAX)]);
    let values: Vec<Value> = scalars
        .flat_map(|value| {
            let list = json!([value, value]);
            let one = json!({ "a": value });
            let two = json!({ "abcX": value, "a": value });
            let long = json!({ "eight888": value, "sixteen-letters-": value, "a": value, "abcd": value });
            [value, list, one, two, long]
        })
        .chain([json!([]), json!({}), json!({ "other": 1 }), json!({ "a": 1, "other": 1 })])
        .collect();

    let (mut fit, mut unfit) = (0, 0);
    for schema in &schemas {
        let hidden = json!({ "$ref": "#/$defs/it", "$defs": { "it": schema } });
        for validation in [Validation::Subset, Validation::Declared] {
            let glance = Validator::compile(schema, validation).unwrap();
            let whole = Validator::compile(&hidden, validation).unwrap();
            for value in &values {
                let (glance, whole) = (glance.validate(value), whole.validate(value));
                assert_eq!(glance, whole, "{validation:?}: {schema} and {value}");
                *if glance.is_ok() { &mut fit } else { &mut unfit } += 1;
            }
        }
    }
    println!("validation: {fit} values fit and {unfit} do not, at a glance as in the whole check");
    assert!(fit > 1_000 && unfit > 1_000);
}
