//! The steps for one schema, in their order, and the way through all of them.

use serde_json::{Map, Value, json};

use super::bound::cut_off;
use super::describe::tell;
use super::objects::Place;
use super::words::MAX_NODES;
use super::{AnyValue, LossyAction, Pass, keywords, names, objects, unions};
use crate::harness::tool::validate::canonical::child;
use crate::harness::tool::validate::keywords::change_schemas;

/// Rewrites a document: an object, and its definitions.
pub(super) fn root(document: Value, pass: &mut Pass<'_>) -> Value {
    pass.visited = 0;
    let Value::Object(mut document) = document else { return document };
    let definitions = document.shift_remove("$defs");
    // At the root the outermost keywords are those of an object, whatever else a schema may have there.
    let place = Place { is_root: true, decides_keys: true };
    let Value::Object(mut root) = node(Value::Object(document), place, "", pass) else {
        return json!({ "type": "object", "properties": {} });
    };
    if let Some(Value::Object(definitions)) = definitions {
        let mut written = Map::new();
        for (name, schema) in definitions {
            let schema = node(schema, Place { is_root: false, ..place }, &child("", "$defs", &name), pass);
            written.insert(name, schema);
        }
        root.insert("$defs".into(), Value::Object(written));
    }
    Value::Object(root)
}

fn node(schema: Value, place: Place, path: &str, pass: &mut Pass<'_>) -> Value {
    pass.visited += 1;
    if pass.visited > MAX_NODES {
        if pass.dialect.strict {
            pass.block(path, "");
        }
        return cut_off(path, pass);
    }
    let mut schema = match schema {
        Value::Object(schema) => schema,
        Value::Bool(false) => {
            if pass.dialect.keywords.contains(&"not") {
                return json!({ "not": {} });
            }
            pass.note(path, "false", LossyAction::Widened);
            Map::new()
        }
        _ => Map::new(),
    };
    let mut said = Vec::new();
    if place.is_root {
        for keyword in ["enum", "const", "not", "if", "then", "else"] {
            if let Some(value) = schema.shift_remove(keyword) {
                said.push(super::describe::rule(keyword, &value));
                pass.note(path, keyword, LossyAction::Described);
            }
        }
    }
    unions::all_of(&mut schema, path, pass);
    unions::rewrite(&mut schema, path, pass);
    unions::name_type(&mut schema, path, pass);
    unions::nulls(&mut schema, path, &mut said, pass);
    keywords::tuples(&mut schema, path, &mut said, pass);
    objects::rewrite(&mut schema, place, path, &mut said, pass);
    keywords::rewrite(&mut schema, path, &mut said, pass);
    any_value(&mut schema, path, &mut said, pass);
    children(&mut schema, place, path, pass);
    names::rename(&mut schema, pass);
    tell(&mut schema, &said);
    Value::Object(schema)
}

/// A schema that takes any value, as the dialect has it.
fn any_value(schema: &mut Map<String, Value>, path: &str, said: &mut Vec<String>, pass: &mut Pass<'_>) {
    let names_type = ["type", "anyOf", "oneOf", "$ref"].iter().any(|keyword| schema.contains_key(*keyword));
    match pass.dialect.any_value {
        _ if names_type => {}
        AnyValue::Empty => {}
        AnyValue::NotStrict => pass.block(path, "type"),
        AnyValue::Text => {
            schema.insert("type".into(), "string".into());
            said.push("any JSON value, written as text".into());
            pass.note(path, "type", LossyAction::Narrowed);
        }
    }
}

fn children(schema: &mut Map<String, Value>, place: Place, path: &str, pass: &mut Pass<'_>) {
    let has_keys = schema.contains_key("properties") || schema.contains_key("$ref");
    for (keyword, value) in schema.iter_mut() {
        let alternative = matches!(keyword.as_str(), "anyOf" | "oneOf");
        let decides_keys = match keyword.as_str() {
            "anyOf" | "oneOf" => place.decides_keys && !has_keys,
            "properties" | "items" | "prefixItems" | "additionalProperties" | "patternProperties" => true,
            _ => false,
        };
        let place = Place { is_root: false, decides_keys };
        // Here a boolean is a word of its own: open or closed.
        if keyword == "additionalProperties" && value.is_boolean() {
            continue;
        }
        if let (true, Value::Array(arms)) = (alternative, &mut *value) {
            if arms.len() > 1 {
                arms.retain(|arm| *arm != Value::Bool(false));
            }
        }
        change_schemas(keyword, value, path, |schema, path| *schema = node(schema.take(), place, path, pass));
    }
}
