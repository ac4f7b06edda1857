//! The root: an object without alternatives, which is all that most providers take.

use serde_json::{Map, Value, json};

use super::merge::merge;
use super::words::MAX_NODES;
use super::{LossyAction, Pass};

/// The one property of the object that stands for arguments that are none.
pub(super) const WRAPPED: &str = "value";
/// Alternatives within alternatives at the root.
const DEEPEST: usize = 8;

pub(super) fn object(schema: Value, pass: &mut Pass<'_>) -> Value {
    if !is_object(&schema, &schema, 0) {
        return wrapped(schema, pass);
    }
    let Value::Object(mut root) = schema else { return json!({ "type": "object", "properties": {} }) };
    let definitions = root.shift_remove("$defs");
    let named = definitions.clone().unwrap_or_default();
    flatten(&mut root, &named, 0, pass);
    if root.get("type").is_some_and(Value::is_array) {
        pass.note("", "type", LossyAction::Narrowed);
    }
    let mut first = Map::new();
    first.insert("type".into(), "object".into());
    root.shift_remove("type");
    first.append(&mut root);
    first.entry("properties").or_insert_with(|| json!({}));
    first.extend(definitions.map(|definitions| ("$defs".into(), definitions)));
    Value::Object(first)
}

fn wrapped(mut schema: Value, pass: &mut Pass<'_>) -> Value {
    pass.note("", "type", LossyAction::Widened);
    let definitions = schema.as_object_mut().and_then(|root| root.shift_remove("$defs"));
    let mut root = json!({ "type": "object", "properties": { WRAPPED: schema }, "required": [WRAPPED] });
    if let (Some(definitions), Value::Object(root)) = (definitions, &mut root) {
        root.insert("$defs".into(), definitions);
    }
    root
}

/// Whether a schema describes objects, as far as it says.
pub(super) fn is_object(schema: &Value, document: &Value, depth: usize) -> bool {
    let Value::Object(object) = schema else { return *schema == Value::Bool(true) };
    if depth > DEEPEST {
        return true;
    }
    match object.get("type") {
        Some(Value::String(name)) => return name == "object",
        Some(Value::Array(names)) => return names.iter().any(|name| name == "object"),
        _ => {}
    }
    let target = object.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'));
    if let Some(target) = target.and_then(|pointer| document.pointer(pointer)) {
        return is_object(target, document, depth + 1);
    }
    let all = |keyword: &str, is: &dyn Fn(&Value) -> bool| match object.get(keyword) {
        Some(Value::Array(list)) => list.iter().all(is),
        _ => true,
    };
    ["anyOf", "oneOf", "allOf"].iter().all(|keyword| all(keyword, &|arm| is_object(arm, document, depth + 1)))
        && all("enum", &Value::is_object)
        && object.get("const").is_none_or(Value::is_object)
}

/// Merges what the root refers to, and its alternatives, into it.
fn flatten(root: &mut Map<String, Value>, named: &Value, depth: usize, pass: &mut Pass<'_>) {
    pass.visited += 1;
    let too_much = depth > DEEPEST || pass.visited > MAX_NODES;
    if let Some(target) = root.shift_remove("$ref") {
        let name = target.as_str().and_then(|target| target.strip_prefix("#/$defs"));
        match name.and_then(|name| named.pointer(name)) {
            Some(Value::Object(body)) if !too_much => {
                merge(root, body.clone(), "", pass);
                flatten(root, named, depth + 1, pass);
            }
            _ => pass.note("", "$ref", LossyAction::Widened),
        }
    }
    if let Some(Value::Array(parts)) = root.shift_remove("allOf") {
        for part in parts {
            if let (Value::Object(mut part), false) = (part, too_much) {
                flatten(&mut part, named, depth + 1, pass);
                merge(root, part, "", pass);
            }
        }
    }
    for keyword in ["anyOf", "oneOf"] {
        let Some(Value::Array(arms)) = root.shift_remove(keyword) else { continue };
        pass.note("", keyword, LossyAction::Widened);
        let mut flat = Vec::new();
        for arm in arms {
            if let (Value::Object(mut arm), false) = (arm, too_much) {
                flatten(&mut arm, named, depth + 1, pass);
                flat.push(arm);
            }
        }
        if let Some(union) = union(flat) {
            // What the root itself requires stays required; what one alternative requires does not.
            merge(root, union, "", pass);
        }
    }
}

/// One object that takes what any of some objects takes.
fn union(arms: Vec<Map<String, Value>>) -> Option<Map<String, Value>> {
    let mut properties = Map::new();
    let mut required: Option<Vec<Value>> = None;
    let mut is_closed = true;
    if arms.is_empty() {
        return None;
    }
    for mut arm in arms {
        is_closed &= arm.get("additionalProperties") == Some(&Value::Bool(false));
        if let Some(Value::Object(own)) = arm.shift_remove("properties") {
            for (name, schema) in own {
                match properties.get_mut(&name) {
                    None => {
                        properties.insert(name, schema);
                    }
                    Some(same) if *same == schema => {}
                    Some(other) => either(other, schema),
                }
            }
        }
        let own = match arm.shift_remove("required") {
            Some(Value::Array(own)) => own,
            _ => Vec::new(),
        };
        required = Some(match required {
            None => own,
            Some(before) => before.into_iter().filter(|name| own.contains(name)).collect(),
        });
    }
    let mut union = Map::new();
    union.insert("properties".into(), Value::Object(properties));
    union.insert("required".into(), Value::Array(required.unwrap_or_default()));
    if is_closed {
        union.insert("additionalProperties".into(), false.into());
    }
    Some(union)
}

fn either(one: &mut Value, other: Value) {
    if let (Some(mut values), Some(more)) = (listed(one), listed(&other)) {
        for value in more {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        *one = json!({ "enum": values });
        if values.iter().all(Value::is_string) {
            *one = json!({ "type": "string", "enum": values });
        }
        return;
    }
    match one.as_object_mut().filter(|one| one.len() == 1).and_then(|one| one.get_mut("anyOf")) {
        Some(Value::Array(arms)) => arms.push(other),
        _ => *one = json!({ "anyOf": [one.take(), other] }),
    }
}

/// The values that a schema lists, if it does.
fn listed(schema: &Value) -> Option<Vec<Value>> {
    if let Some(value) = schema.get("const") {
        return Some(vec![value.clone()]);
    }
    schema.get("enum").and_then(Value::as_array).cloned()
}
