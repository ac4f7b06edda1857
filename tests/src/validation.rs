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
