//! What was reported of other libraries, one rule each.

use super::{SchemaDialect, Value, json, shapes};

/// Every schema within one, by the keywords that hold schemas.
fn each(schema: &Value, see: &mut dyn FnMut(&serde_json::Map<String, Value>)) {
    let Value::Object(object) = schema else { return };
    see(object);
    for (keyword, value) in object {
        match (keyword.as_str(), value) {
            ("items" | "additionalProperties" | "not", one) => each(one, see),
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(list)) => {
                list.iter().for_each(|one| each(one, see));
            }
            ("properties" | "$defs" | "patternProperties", Value::Object(named)) => {
                named.values().for_each(|one| each(one, see));
            }
            _ => {}
        }
    }
}

fn hostile() -> Vec<Value> {
    let mut deep = json!({ "type": "string" });
    for _ in 0..100 {
        deep = json!({ "type": "object", "properties": { "a": deep } });
    }
    let mut bomb = serde_json::Map::new();
    for level in 0..30 {
        let next = json!({ "$ref": format!("#/$defs/l{}", level + 1), "description": "more" });
        bomb.insert(
            format!("l{level}"),
            json!({ "type": "object", "properties": { "a": next, "b": next, "c": { "anyOf": [next, next] } } }),
        );
    }
    vec![
        deep,
        json!({ "$ref": "#/$defs/l0", "$defs": bomb }),
        json!({ "allOf": [{ "$ref": "#" }, { "$ref": "#" }] }),
        json!({ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } } }),
        json!({ "type": 5, "properties": [], "required": "a", "enum": {}, "anyOf": [], "$ref": 4 }),
        json!({ "properties": { "a": 1, "b": null, "c": "x", "d": [{}], "e": false, "f": true } }),
        json!({ "anyOf": [{ "$ref": "#/anyOf/0" }, { "$ref": "#/nowhere" }, { "$ref": "http://x/y#z" }] }),
        json!({ "type": ["object", "null", "object"], "const": 5, "oneOf": [true, false] }),
        json!({ "properties": { "~/%": { "$ref": "#/properties/~0~1%25" } } }),
        json!(null),
        json!(true),
        json!(false),
        json!([1, { "type": "object" }]),
        json!("schema"),
    ]
}

#[test]
fn d35_every_reference_resolves() {
    let mut counted = 0;
    for dialect in SchemaDialect::all() {
        for schema in shapes().into_iter().map(|(_, schema)| schema).chain(hostile()) {
            let adapted = dialect.adapt(&schema).schema;
            each(&adapted, &mut |object| {
                if let Some(target) = object.get("$ref") {
                    counted += 1;
                    let pointer = target.as_str().unwrap().strip_prefix('#').unwrap();
                    assert!(pointer.starts_with("/$defs/"), "{}: {target} in {adapted}", dialect.name);
                    assert!(adapted.pointer(pointer).is_some(), "{}: {target} in {adapted}", dialect.name);
                }
            });
        }
    }
    assert!(counted > 20, "only {counted} references were looked at");
}

#[test]
fn d36_strict_mode_reaches_every_position() {
    let object = |name: &str| json!({ "type": "object", "properties": { name: { "type": "string" } } });
    let canonical = json!({
        "type": "object",
        "properties": {
            "items": { "type": "array", "items": object("in_items") },
            "either": { "anyOf": [object("in_any_of"), { "type": "string" }] },
            "one": { "oneOf": [object("in_one_of"), { "type": "null" }] },
            "all": { "allOf": [object("in_all_of")] },
            "named": { "$ref": "#/$defs/Node" },
        },
        "$defs": { "Node": object("in_defs") }
    });
    for dialect in
        [SchemaDialect::openai_strict(), SchemaDialect::deepseek_strict(), SchemaDialect::anthropic_strict()]
    {
        let adapted = dialect.adapt(&canonical);
        assert!(adapted.strict_ok, "{}: {:?}", dialect.name, adapted.notes);
        let mut objects = 0;
        each(&adapted.schema, &mut |object| {
            let Some(properties) = object.get("properties").and_then(Value::as_object) else { return };
            objects += 1;
            assert_eq!(object["additionalProperties"], json!(false), "{}", dialect.name);
            if dialect.require_all {
                assert_eq!(
                    object["required"].as_array().unwrap().len(),
                    properties.len(),
                    "{}",
                    dialect.name
                );
            }
        });
        assert_eq!(objects, 6, "{}: {}", dialect.name, adapted.schema);
    }
}

#[test]
fn d37_a_description_beside_a_reference_is_kept() {
    let canonical = json!({
        "type": "object",
        "properties": {
            "home": { "$ref": "#/$defs/Place", "description": "Where they live." },
            "tree": { "$ref": "#/$defs/Tree", "description": "Their tree." },
        },
        "required": ["home", "tree"],
        "$defs": {
            "Place": { "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"] },
            "Tree": {
                "type": "object",
                "properties": { "left": { "$ref": "#/$defs/Tree", "description": "Left of it." } },
            },
        }
    });
    for dialect in SchemaDialect::all() {
        let text = dialect.adapt(&canonical).schema.to_string();
        for kept in ["Where they live.", "Their tree.", "Left of it."] {
            assert!(text.contains(kept), "{}: {text}", dialect.name);
        }
    }
    let strict = SchemaDialect::openai_strict().adapt(&canonical);
    assert!(strict.strict_ok);
    each(&strict.schema, &mut |object| {
        assert!(!object.contains_key("$ref") || object.len() == 1, "{object:?}")
    });
}

#[test]
fn d38_gemini_and_ollama_get_no_reference() {
    for dialect in [SchemaDialect::gemini(), SchemaDialect::ollama()] {
        for (name, schema) in shapes() {
            let adapted = dialect.adapt(&schema).schema;
            each(&adapted, &mut |object| assert!(!object.contains_key("$ref"), "{}: {name}", dialect.name));
            assert!(adapted.get("$defs").is_none());
        }
    }
}

#[test]
fn d39_a_map_makes_its_tool_non_strict_with_a_note() {
    let canonical = json!({
        "type": "object",
        "properties": { "counts": { "type": "object", "additionalProperties": { "type": "integer" } } },
    });
    for dialect in
        [SchemaDialect::openai_strict(), SchemaDialect::deepseek_strict(), SchemaDialect::anthropic_strict()]
    {
        let adapted = dialect.adapt(&canonical);
        assert!(!adapted.strict_ok);
        let note = &adapted.notes[0];
        assert!(note.path.starts_with("/properties/counts"), "{note}");
        assert_eq!(note.keyword, "additionalProperties");
        assert!(note.to_string().contains("strict"), "{note}");
        assert_eq!(adapted.schema["properties"]["counts"], canonical["properties"]["counts"]);
    }
}

#[test]
fn whatever_comes_in_a_bounded_schema_comes_out() {
    for dialect in SchemaDialect::all() {
        for schema in hostile() {
            let adapted = dialect.adapt(&schema);
            assert_eq!(adapted.schema["type"], "object", "{}: {schema}", dialect.name);
            assert_eq!(dialect.adapt(&schema), adapted, "{}", dialect.name);
            assert!(adapted.schema.to_string().len() < 8_000_000, "{}", dialect.name);
        }
    }
}

#[test]
fn llama_cpp_gets_closed_objects_so_that_a_model_invents_no_keys() {
    let map = json!({ "type": "object", "additionalProperties": { "type": "string" } });
    let open = json!({ "type": "object", "properties": { "a": { "type": "string" }, "map": map } });
    let canonical = json!({ "type": "object", "properties": { "one": open, "many": { "items": open } } });
    let adapted = SchemaDialect::llama_cpp().adapt(&canonical).schema;
    let mut closed = 0;
    each(&adapted, &mut |object| {
        closed += usize::from(object.get("additionalProperties") == Some(&json!(false)));
    });
    assert_eq!(closed, 3, "{adapted}");
    assert_eq!(adapted["properties"]["one"]["properties"]["map"], map);
}
