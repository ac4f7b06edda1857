//! Two schemas that both hold, as one.

use serde_json::{Map, Value, json};

use super::{LossyAction, Pass};

/// Adds the rules of `other` to `schema`. Where both say something that does not combine, the first stays, with a
/// note.
pub(super) fn merge(
    schema: &mut Map<String, Value>,
    other: Map<String, Value>,
    path: &str,
    pass: &mut Pass<'_>,
) {
    for (keyword, value) in other {
        let Some(own) = schema.get_mut(&keyword) else {
            schema.insert(keyword, value);
            continue;
        };
        if *own == value || matches!(keyword.as_str(), "description" | "title" | "default" | "examples") {
            continue;
        }
        if !combine(&keyword, own, value) {
            pass.note(path, &keyword, LossyAction::Widened);
        }
    }
}

fn combine(keyword: &str, own: &mut Value, other: Value) -> bool {
    match (keyword, own, other) {
        ("properties" | "patternProperties" | "$defs", Value::Object(own), Value::Object(other)) => {
            for (name, schema) in other {
                match own.get_mut(&name) {
                    None => {
                        own.insert(name, schema);
                    }
                    Some(same) if *same == schema => {}
                    Some(differs) => *differs = json!({ "allOf": [differs.take(), schema] }),
                }
            }
        }
        ("required", Value::Array(own), Value::Array(other)) => {
            for name in other {
                if !own.contains(&name) {
                    own.push(name);
                }
            }
        }
        ("allOf", Value::Array(own), Value::Array(mut other)) => own.append(&mut other),
        ("enum", Value::Array(own), Value::Array(other)) => {
            let common: Vec<_> = own.iter().filter(|value| other.contains(value)).cloned().collect();
            if common.is_empty() {
                return false;
            }
            *own = common;
        }
        ("additionalProperties", own, other) => {
            if other == Value::Bool(false) || *own == Value::Bool(true) {
                *own = other;
            } else if other != Value::Bool(true) && *own != Value::Bool(false) {
                return false;
            }
        }
        ("minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties", own, other) => {
            if other.as_f64() > own.as_f64() {
                *own = other;
            }
        }
        ("maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties", own, other) => {
            if other.as_f64() < own.as_f64() {
                *own = other;
            }
        }
        ("type", own, other) => {
            let common: Vec<Value> = types(own)
                .iter()
                .flat_map(|a| types(&other).into_iter().filter_map(move |b| narrower(a, &b)))
                .collect();
            match common.as_slice() {
                [] => return false,
                [only] => *own = only.clone(),
                _ => *own = Value::Array(common),
            }
        }
        _ => return false,
    }
    true
}

fn types(value: &Value) -> Vec<Value> {
    match value {
        Value::Array(names) => names.clone(),
        name => vec![name.clone()],
    }
}

fn narrower(a: &Value, b: &Value) -> Option<Value> {
    let integer = |x: &Value, y: &Value| x == "integer" && y == "number";
    (a == b || integer(a, b)).then(|| a.clone()).or_else(|| integer(b, a).then(|| b.clone()))
}
