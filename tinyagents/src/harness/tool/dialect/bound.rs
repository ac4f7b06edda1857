//! A copy of a schema that is well-formed and of a bounded size.

use serde_json::{Map, Value, json};

use super::words::{Kind, MAX_DEPTH, MAX_NODES, is_well_formed, kind};
use super::{LossyAction, Pass};
use crate::harness::tool::validate::canonical::child;

pub(super) fn copy(schema: &Value, path: &str, depth: usize, pass: &mut Pass<'_>) -> Value {
    let object = match schema {
        Value::Bool(any) => return Value::Bool(*any),
        Value::Object(object) => object,
        _ => {
            pass.note(path, "", LossyAction::Dropped);
            return Value::Bool(true);
        }
    };
    pass.visited += 1;
    if depth > MAX_DEPTH || pass.visited > MAX_NODES {
        return cut_off(path, pass);
    }
    let mut copied = Map::new();
    for (keyword, value) in object {
        let keyword = match (keyword.as_str(), value) {
            // Before draft 2020-12 a list of schemas said what `prefixItems` says now.
            ("items", Value::Array(_)) => "prefixItems",
            ("additionalItems", _) if object.get("items").is_some_and(Value::is_array) => "items",
            (keyword, _) => keyword,
        };
        if !is_well_formed(keyword, value) {
            pass.note(path, keyword, LossyAction::Dropped);
            continue;
        }
        copied.insert(keyword.to_string(), copy_value(keyword, value, path, depth, pass));
    }
    Value::Object(copied)
}

fn copy_value(keyword: &str, value: &Value, path: &str, depth: usize, pass: &mut Pass<'_>) -> Value {
    match (kind(keyword), value) {
        (Kind::Schema, schema) => copy(schema, &format!("{path}/{keyword}"), depth + 1, pass),
        (Kind::Schemas, Value::Array(schemas)) => {
            let numbered = schemas.iter().enumerate();
            numbered
                .map(|(n, schema)| copy(schema, &format!("{path}/{keyword}/{n}"), depth + 1, pass))
                .collect()
        }
        (Kind::NamedSchemas, Value::Object(schemas)) => {
            let mut copied = Map::new();
            for (name, schema) in schemas {
                copied.insert(name.clone(), copy(schema, &child(path, keyword, name), depth + 1, pass));
            }
            Value::Object(copied)
        }
        _ => value.clone(),
    }
}

/// What stands for a schema that is too deep, or one too many.
pub(super) fn cut_off(path: &str, pass: &mut Pass<'_>) -> Value {
    pass.note(path, "", LossyAction::Narrowed);
    json!({ "type": "object" })
}
