//! JSON that only looks like a schema: what comes out is still one that its provider takes.

use proptest::prelude::*;

use super::accepted::accepted;
use super::{SchemaDialect, Value, json};

const KEYWORDS: [&str; 30] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "items",
    "prefixItems",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "enum",
    "const",
    "$ref",
    "$defs",
    "definitions",
    "description",
    "default",
    "format",
    "pattern",
    "minimum",
    "exclusiveMaximum",
    "minLength",
    "minItems",
    "uniqueItems",
    "title",
    "nullable",
    "if",
    "odd",
    "$schema",
];

const WORDS: [&str; 11] = [
    "string",
    "object",
    "array",
    "null",
    "integer",
    "#",
    "#/$defs/type",
    "#/properties/items",
    "#/anyOf/0",
    "uint8",
    "",
];

fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2i64..2_500).prop_map(Value::from),
        proptest::sample::select(&WORDS[..]).prop_map(Value::from),
        Just(json!(["string", "null"])),
        Just(json!([1, "a", null])),
        Just(json!({ "type": "string" })),
    ];
    leaf.prop_recursive(6, 64, 6, |inner| {
        let entries =
            proptest::collection::vec((proptest::sample::select(&KEYWORDS[..]), inner.clone()), 0..6);
        prop_oneof![
            1 => proptest::collection::vec(inner, 0..3).prop_map(Value::from),
            4 => entries.prop_map(|entries| {
                Value::Object(entries.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_json_comes_in_its_provider_takes_what_comes_out(schema in anything(), sent in anything()) {
        for dialect in SchemaDialect::all() {
            let adapted = accepted(&dialect, &schema);
            prop_assert_eq!(&dialect.adapt(&schema), &adapted);
            dialect.map_back(sent.clone(), &schema);
        }
    }
}
