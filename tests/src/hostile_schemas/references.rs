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
fn full_validation_refuses_circles_through_every_keyword_that_stays_at_the_value() {
    let own = json!({ "$ref": "#/properties/a" });
    let mut cases: Vec<Value> = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"]
        .into_iter()
        .map(|keyword| object(wrapped(keyword, own.clone())))
        .collect();
    let both = json!({ "anyOf": [{ "allOf": [{ "not": own }] }, true] });
    let draft = |uri: &str, mut schema: Value| {
        schema["$schema"] = json!(uri);
        schema
    };
    cases.extend([
        object(both),
        object(json!({ "$anchor": "x", "allOf": [{ "$ref": "#x" }] })),
        object(json!({ "$dynamicAnchor": "x", "allOf": [{ "$dynamicRef": "#x" }] })),
        object(json!({ "$dynamicAnchor": "x", "$ref": "#x" })),
        object(json!({ "$id": "urn:x", "if": { "$ref": "urn:x" } })),
        object(json!({ "$id": "urn:x", "else": { "$ref": "urn:x#/$defs/y" }, "$defs": { "y": { "$ref": "#" } } })),
        draft("http://json-schema.org/draft-07/schema#", object(json!({ "dependencies": { "a": own } }))),
        draft(
            "https://json-schema.org/draft/2019-09/schema",
            json!({ "type": "object", "$recursiveAnchor": true, "allOf": [{ "$recursiveRef": "#" }] }),
        ),
    ]);
    for schema in cases {
        let error = refused("a circle", schema, Validation::Full);
        assert!(error.reason.contains("leads back to itself without"), "{error}");
    }
    // With a step into the value it is no circle.
    for keyword in
        ["properties", "patternProperties", "additionalProperties", "propertyNames", "contains", "items"]
    {
        let schema = object(wrapped(keyword, json!({ "$ref": "#/properties/a" })));
        compiled(&kept(schema), Validation::Full).unwrap();
    }
}

#[test]
fn resources_that_refer_to_each_other_in_many_ways_are_refused() {
    for (count, fits) in [(2, true), (4, true), (7, false), (30, false)] {
        let resource = |index: usize| {
            let others =
                (0..count).map(|other| (format!("p{other}"), json!({ "$ref": format!("urn:x:{other}") })));
            json!({ "$id": format!("urn:x:{index}"), "properties": others.collect::<Map<_, _>>() })
        };
        let all: Map<_, _> = (0..count).map(|index| (format!("d{index}"), resource(index))).collect();
        let schema = kept(json!({ "type": "object", "$ref": "urn:x:0", "$defs": all }));
        let compiled = compiled(&schema, Validation::Full);
        assert_eq!(compiled.is_ok(), fits, "{count} resources: {compiled:?}");
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
