//! Objects: which keys they take, and which must be there.

use serde_json::{Map, Value, json};

use super::describe::rule;
use super::unions::with_null;
use super::{LossyAction, Maps, Objects, Pass};
use crate::harness::tool::validate::canonical::child;

/// Where a schema stands.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) is_root: bool,
    /// Whether the schema alone says which keys an object takes.
    pub(super) decides_keys: bool,
}

pub(super) fn rewrite(
    schema: &mut Map<String, Value>,
    place: Place,
    path: &str,
    said: &mut Vec<String>,
    pass: &mut Pass<'_>,
) {
    let is_object = schema.get("type").is_some_and(|name| name == "object" || lists_object(name));
    let speaks = |keyword: &&str| schema.contains_key(*keyword);
    if !is_object && !["properties", "additionalProperties", "patternProperties"].iter().any(speaks) {
        return;
    }
    impossible(schema, path, pass);
    let dialect = pass.dialect;
    let declares = schema.contains_key("properties");
    let additional = schema.get("additionalProperties").cloned();
    let patterns = schema.get("patternProperties").and_then(Value::as_object);
    let has_patterns = patterns.is_some_and(|patterns| !patterns.is_empty());
    let is_map = has_patterns
        || matches!(additional, Some(Value::Object(_) | Value::Bool(true)))
        || (additional.is_none() && !declares);
    if is_map {
        match dialect.maps {
            Maps::Keep => {}
            Maps::NotStrict => return pass.block(path, "additionalProperties"),
            Maps::Describe => {
                for keyword in ["additionalProperties", "patternProperties"] {
                    match schema.shift_remove(keyword) {
                        Some(value @ Value::Object(_)) => {
                            said.push(rule(keyword, &value));
                            pass.note(path, keyword, LossyAction::Described);
                        }
                        Some(Value::Bool(false)) => pass.note(path, keyword, LossyAction::Dropped),
                        _ => {}
                    }
                }
            }
        }
    }
    if has_patterns && !dialect.keywords.contains(&"patternProperties") {
        // A closed object without its patterns would refuse what they allow.
        if schema.get("additionalProperties") == Some(&Value::Bool(false)) {
            schema.shift_remove("additionalProperties");
            pass.note(path, "additionalProperties", LossyAction::Dropped);
        }
    }
    match dialect.objects {
        Objects::Keep => {}
        Objects::Strip => {
            if schema.shift_remove("additionalProperties").is_some() && !is_map {
                pass.note(path, "additionalProperties", LossyAction::Dropped);
            }
        }
        Objects::Close if is_map => {}
        Objects::Close => {
            let others =
                ["anyOf", "oneOf", "allOf", "$ref"].iter().any(|keyword| schema.contains_key(*keyword));
            if place.decides_keys && !others {
                schema.insert("additionalProperties".into(), false.into());
            } else if additional.is_none() && dialect.strict {
                return pass.block(path, "anyOf");
            }
        }
    }
    required(schema, place, path, pass);
}

fn lists_object(names: &Value) -> bool {
    names.as_array().is_some_and(|names| names.iter().any(|name| name == "object"))
}

/// Leaves out properties that no value may have.
fn impossible(schema: &mut Map<String, Value>, path: &str, pass: &mut Pass<'_>) {
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    let before = properties.len();
    properties.retain(|name, schema| {
        *schema != Value::Bool(false) || required.iter().any(|required| required == name.as_str())
    });
    if properties.len() < before {
        pass.note(path, "properties", LossyAction::Widened);
    }
}

/// Writes `required`, and makes what is optional nullable where everything is required.
fn required(schema: &mut Map<String, Value>, place: Place, path: &str, pass: &mut Pass<'_>) {
    let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    if place.is_root || (is_closed && pass.dialect.objects == Objects::Close) {
        schema.entry("properties").or_insert_with(|| json!({}));
    }
    let mut required: Vec<Value> = Vec::new();
    for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
        if !required.contains(name) {
            required.push(name.clone());
        }
    }
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    if pass.is_typed() {
        let before = required.len();
        required.retain(|name| name.as_str().is_some_and(|name| properties.contains_key(name)));
        if required.len() < before {
            pass.note(path, "required", LossyAction::Widened);
        }
    }
    if pass.dialect.require_all {
        for (name, schema) in properties.iter_mut() {
            if required.iter().any(|required| required == name.as_str()) {
                continue;
            }
            let (nullable, took_null) = with_null(schema.take());
            *schema = nullable;
            if took_null {
                // Left out and null cannot be told apart any more.
                pass.note(&child(path, "properties", name), "required", LossyAction::Narrowed);
            }
        }
        required = properties.keys().map(|name| Value::from(name.as_str())).collect();
    }
    if required.is_empty() && !pass.dialect.require_all {
        schema.shift_remove("required");
    } else {
        schema.insert("required".into(), Value::Array(required));
    }
}
