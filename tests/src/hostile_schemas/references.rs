//! `$ref`: round in circles, in long chains, to nowhere and to elsewhere.

use super::*;

/// `$defs` in which each definition is what `to` makes of a reference to the next; the last one is `last`.
fn chain(length: usize, last: Value, to: impl Fn(Value) -> Value) -> Map<String, Value> {
    let reference = |index: usize| json!({ "$ref": format!("#/$defs/d{index}") });
    let mut all: Map<String, Value> =
        (1..length).map(|index| (format!("d{index}"), to(reference(index + 1)))).collect();
    all.insert(format!("d{length}"), last);
    all
}

fn with_chain(length: usize, last: Value, to: impl Fn(Value) -> Value) -> Value {
    json!({
        "type": "object",
        "properties": { "a": { "$ref": "#/$defs/d1" } },
        "$defs": chain(length, last, to)
    })
}

#[test]
fn a_reference_that_leads_back_to_itself_is_refused() {
    let defs = |all: Value| json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/a" } }, "$defs": all });
    let cases = [
        json!({ "type": "object", "$ref": "#" }),
        defs(json!({ "a": { "$ref": "#/$defs/a" } })),
        defs(json!({ "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } })),
        defs(
            json!({ "a": { "type": "object", "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/c" }, "c": { "$ref": "#/$defs/a" } }),
        ),
        defs(json!({ "a": { "$ref": "#/properties/a" } })),
        defs(json!({ "a": { "$ref": "#/$defs/%61" } })),
    ];
    for schema in cases {
        for validation in [Validation::Subset, Validation::Declared, Validation::Full] {
            let error = refused("a circle", schema.clone(), validation);
            assert!(error.reason.contains("leads back to itself without"), "{error}");
        }
    }
}

#[test]
fn chains_are_followed_up_to_the_bound() {
    // The property's own reference is the first of the chain.
    for (length, fits) in [(1, true), (60, true), (63, true), (64, false), (65, false), (5_000, false)] {
        let schema = kept(with_chain(length, json!({ "type": "string" }), |next| next));
        for validation in [Validation::Subset, Validation::Declared, Validation::Full] {
            let compiled = compiled(&schema, validation);
            assert_eq!(compiled.is_ok(), fits, "{length} references, {validation:?}: {compiled:?}");
            if let Ok(validator) = compiled {
                let (text, number) = on_small_stack(move || {
                    (validator.validate(&json!({ "a": "x" })), validator.validate(&json!({ "a": 1 })))
                });
                assert!(text.is_ok() && number.unwrap_err()[0].path == "/a");
            }
        }
    }
}

#[test]
fn a_reference_goes_to_a_place_in_the_schema_or_nowhere() {
    let nowhere = ["#/$defs/none", "#/$defs/a%", "#/$defs/%ff", "#/$defs/%zz", "#/$defs/+1"];
    for target in nowhere {
        let schema =
            json!({ "type": "object", "properties": { "a": { "$ref": target } }, "$defs": { "a b": {} } });
        for validation in BOTH {
            let error = refused(target, schema.clone(), validation);
            assert!(error.reason.contains('`') && error.to_string().contains(target), "{error}");
        }
    }
    let elsewhere =
        ["http://localhost:1/a.json", "https://localhost:1/a.json#/b", "file:///etc/passwd", "other.json"];
    for target in elsewhere {
        for validation in BOTH {
            refused(target, object(json!({ "$ref": target })), validation);
        }
    }
    let names = ["a b", "a%b", "a/b", "a~b", "ä", "a\"b"];
    let escaped = ["a%20b", "a%25b", "a~1b", "a~0b", "%C3%A4", "a%22b"];
    for (name, escaped) in names.iter().zip(escaped) {
        let schema = json!({
            "type": "object",
            "properties": { "a": { "$ref": format!("#/$defs/{escaped}") } },
            "$defs": { *name: { "type": "string" } }
        });
        for validation in BOTH {
            let validator = compiled(&kept(schema.clone()), validation).unwrap();
            assert!(validator.validate(&json!({ "a": "x" })).is_ok());
            assert!(validator.validate(&json!({ "a": 1 })).is_err(), "{name}, {validation:?}");
        }
    }
}
