//! A copy of a schema that is well-formed and of a bounded size.

use serde_json::{Map, Value, json};

use super::words::{MAX_DEPTH, MAX_NODES, is_well_formed};
use super::{LossyAction, Pass};
use crate::harness::tool::validate::keywords::copy_schemas;

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
        let value = copy_schemas(keyword, value, path, |schema, path| copy(schema, path, depth + 1, pass));
        copied.insert(keyword.to_string(), value);
    }
    Value::Object(copied)
}

/// What stands for a schema that is too deep, or one too many.
pub(super) fn cut_off(path: &str, pass: &mut Pass<'_>) -> Value {
    pass.note(path, "", LossyAction::Narrowed);
    json!({ "type": "object" })
}
