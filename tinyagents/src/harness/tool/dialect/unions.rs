//! Alternatives, constants, and values that may be null.

use serde_json::{Map, Value, json};

use super::merge::merge;
use super::words::applies;
use super::{LossyAction, Nullable, Pass, Refs};
use crate::harness::tool::validate::canonical::type_name;

/// Nested `allOf`s that are merged; deeper ones are left out.
const DEEPEST: usize = 16;

/// Merges the members of `allOf` into the schema.
pub(super) fn all_of(schema: &mut Map<String, Value>, path: &str, pass: &mut Pass<'_>) {
    if !pass.dialect.merge_all_of {
        return;
    }
    for _ in 0..DEEPEST {
        let Some(Value::Array(parts)) = schema.shift_remove("allOf") else { return };
        for part in parts {
            match part {
                Value::Object(part) => merge(schema, part, path, pass),
                Value::Bool(true) => {}
                _ => pass.note(path, "allOf", LossyAction::Widened),
            }
        }
    }
    if schema.shift_remove("allOf").is_some() {
        pass.note(path, "allOf", LossyAction::Widened);
    }
}

/// `oneOf` as `anyOf`, `const` as `enum`, and a reference apart from what stands beside it.
pub(super) fn rewrite(schema: &mut Map<String, Value>, path: &str, pass: &mut Pass<'_>) {
    let dialect = pass.dialect;
    if dialect.one_of_as_any_of {
        if let Some(arms) = schema.shift_remove("oneOf") {
            pass.note(path, "oneOf", LossyAction::Widened);
            if schema.contains_key("anyOf") {
                pass.note(path, "anyOf", LossyAction::Widened);
            }
            schema.entry("anyOf").or_insert(arms);
        }
    }
    if dialect.const_as_enum {
        if let Some(value) = schema.shift_remove("const") {
            schema.insert("enum".into(), json!([value]));
        }
    }
    if dialect.refs == Refs::InlineSiblings && schema.len() > 1 {
        if let Some(target) = schema.shift_remove("$ref") {
            if schema.contains_key("anyOf") {
                pass.note(path, "$ref", LossyAction::Widened);
            }
            schema.entry("anyOf").or_insert_with(|| json!([{ "$ref": target }]));
        }
    }
}

/// Names the type of a schema that only implies it.
pub(super) fn name_type(schema: &mut Map<String, Value>, path: &str, pass: &mut Pass<'_>) {
    if !pass.is_typed() || ["type", "anyOf", "oneOf", "$ref"].iter().any(|known| schema.contains_key(*known))
    {
        return;
    }
    let values = match (schema.get("const"), schema.get("enum")) {
        (Some(value), _) => std::slice::from_ref(value),
        (None, Some(Value::Array(values))) => values.as_slice(),
        _ => &[],
    };
    let mut types: Vec<Value> = Vec::new();
    for value in values {
        let name = Value::from(type_name(value));
        if !types.contains(&name) {
            types.push(name);
        }
    }
    let implied = ["object", "array", "string", "number"]
        .into_iter()
        .find(|name| schema.keys().any(|keyword| applies(keyword, name) && !applies(keyword, "null")));
    let name = match (types.as_slice(), implied) {
        ([only], _) => only.clone(),
        ([], None) => return,
        ([], Some(name)) => {
            pass.note(path, "type", LossyAction::Narrowed);
            name.into()
        }
        _ => Value::Array(types),
    };
    schema.insert("type".into(), name);
}

/// Writes what may be null, and what has several types, as the dialect has it.
pub(super) fn nulls(
    schema: &mut Map<String, Value>,
    path: &str,
    said: &mut Vec<String>,
    pass: &mut Pass<'_>,
) {
    let nullable = pass.dialect.nullable;
    if let Some(Value::Array(names)) = schema.get_mut("type") {
        let mut distinct: Vec<Value> = Vec::new();
        for name in names.drain(..) {
            if !distinct.contains(&name) {
                distinct.push(name);
            }
        }
        match distinct.as_slice() {
            [only] => {
                let only = only.clone();
                schema.insert("type".into(), only);
            }
            _ if nullable == Nullable::TypeList => {
                schema.insert("type".into(), Value::Array(distinct));
            }
            _ => split(schema, &distinct, path, pass),
        }
    }
    if nullable != Nullable::Keyword {
        return;
    }
    let takes_null = match schema.get_mut("anyOf") {
        Some(Value::Array(arms)) => {
            let before = arms.len();
            arms.retain(|arm| !is_null(arm));
            arms.len() < before
        }
        _ => false,
    };
    if takes_null {
        schema.insert("nullable".into(), true.into());
        one_arm(schema, path, pass);
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| !value.is_null());
        if values.is_empty() {
            schema.shift_remove("enum");
        }
    }
    if schema.get("type").is_some_and(|name| name == "null") {
        schema.insert("type".into(), "string".into());
        schema.insert("nullable".into(), true.into());
        said.push("always null".into());
        pass.note(path, "type", LossyAction::Widened);
    }
}

/// An `anyOf` of one arm, or none, without the `anyOf`.
fn one_arm(schema: &mut Map<String, Value>, path: &str, pass: &mut Pass<'_>) {
    match schema.get_mut("anyOf").and_then(Value::as_array_mut).map(|arms| (arms.len(), arms.pop())) {
        Some((0, _)) => {
            schema.shift_remove("anyOf");
            schema.insert("type".into(), "null".into());
        }
        Some((1, Some(Value::Object(arm)))) => {
            schema.shift_remove("anyOf");
            merge(schema, arm, path, pass);
            rewrite(schema, path, pass);
            name_type(schema, path, pass);
            if let Some(Value::Array(names)) = schema.get("type").cloned() {
                split(schema, &names, path, pass);
            }
        }
        Some((_, Some(arm))) => {
            if let Some(Value::Array(arms)) = schema.get_mut("anyOf") {
                arms.push(arm);
            }
        }
        _ => {}
    }
}

fn is_null(schema: &Value) -> bool {
    schema.get("type").is_some_and(|name| name == "null")
        || schema.get("const").is_some_and(Value::is_null)
        || schema.get("enum").and_then(Value::as_array).is_some_and(|list| list.iter().all(Value::is_null))
}

/// A list of types as one alternative for each.
fn split(schema: &mut Map<String, Value>, names: &[Value], path: &str, pass: &mut Pass<'_>) {
    let whole = std::mem::take(schema);
    let keyword_is_free = pass.dialect.nullable == Nullable::Keyword;
    let mut arms: Vec<Value> = Vec::new();
    for name in names.iter().filter_map(Value::as_str) {
        if name == "null" && keyword_is_free {
            schema.insert("nullable".into(), true.into());
            continue;
        }
        let mut arm = Map::new();
        arm.insert("type".into(), name.into());
        for (keyword, value) in &whole {
            match (keyword.as_str(), value) {
                ("enum", Value::Array(values)) => {
                    let own = |value: &&Value| {
                        let is = type_name(value);
                        is == name || (is == "integer" && name == "number")
                    };
                    let own: Vec<Value> = values.iter().filter(own).cloned().collect();
                    arm.insert("enum".into(), Value::Array(own));
                }
                (keyword, value) if name != "null" && applies(keyword, name) && !applies(keyword, "null") => {
                    arm.insert(keyword.into(), value.clone());
                }
                _ => {}
            }
        }
        let lists_nothing = arm.get("enum").and_then(Value::as_array).is_some_and(Vec::is_empty);
        if !lists_nothing {
            arms.push(Value::Object(arm));
        }
    }
    for (keyword, value) in whole {
        match keyword.as_str() {
            "description" | "default" | "nullable" => {
                schema.insert(keyword, value);
            }
            "anyOf" | "oneOf" | "allOf" | "not" | "$ref" => pass.note(path, &keyword, LossyAction::Widened),
            _ => {}
        }
    }
    match arms.pop() {
        Some(Value::Object(only)) if arms.is_empty() => merge(schema, only, path, pass),
        Some(last) => {
            arms.push(last);
            schema.insert("anyOf".into(), Value::Array(arms));
        }
        None => {
            schema.insert("type".into(), "null".into());
        }
    }
}

/// A schema that takes null as well, and whether it did before.
pub(super) fn with_null(schema: Value) -> (Value, bool) {
    let Value::Object(mut object) = schema else { return (schema, true) };
    if takes_null(&object) {
        return (Value::Object(object), true);
    }
    if !object.contains_key("type") && !object.contains_key("$ref") {
        if let Some(Value::Array(arms)) = object.get_mut("anyOf") {
            arms.push(json!({ "type": "null" }));
            return (Value::Object(object), false);
        }
    }
    let is_plain =
        !["anyOf", "oneOf", "allOf", "$ref", "const", "not"].iter().any(|key| object.contains_key(*key));
    if let (Some(kind), true) = (object.get_mut("type"), is_plain) {
        match kind {
            Value::Array(names) => names.push("null".into()),
            name => *name = json!([name.take(), "null"]),
        }
        if let Some(Value::Array(values)) = object.get_mut("enum") {
            values.push(Value::Null);
        }
        return (Value::Object(object), false);
    }
    let description = object.shift_remove("description");
    let mut outer = Map::new();
    outer.extend(description.map(|text| ("description".into(), text)));
    outer.insert("anyOf".into(), json!([object, { "type": "null" }]));
    (Value::Object(outer), false)
}

/// Whether null is a value of a schema, as far as it says itself.
pub(super) fn takes_null(schema: &Map<String, Value>) -> bool {
    let by_type = match schema.get("type") {
        None => true,
        Some(Value::Array(names)) => names.iter().any(|name| name == "null"),
        Some(name) => name == "null",
    };
    let arm_takes = |arm: &Value| arm.as_object().is_none_or(takes_null);
    let arms = |keyword: &str| schema.get(keyword).and_then(Value::as_array);
    by_type
        && !schema.contains_key("$ref")
        && arms("enum").is_none_or(|values| values.contains(&Value::Null))
        && schema.get("const").is_none_or(Value::is_null)
        && ["anyOf", "oneOf"]
            .iter()
            .all(|keyword| arms(keyword).is_none_or(|list| list.iter().any(arm_takes)))
        && arms("allOf").is_none_or(|list| list.iter().all(arm_takes))
}
