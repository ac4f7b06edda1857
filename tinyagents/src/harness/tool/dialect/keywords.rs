//! Rules on single values: those that a provider does not take are told in the description.

use serde_json::{Map, Value};

use super::describe::rule;
use super::{Formats, Lengths, LossyAction, Pass, Tuples};

/// Keywords that say nothing of values.
const SILENT: [&str; 8] =
    ["title", "$schema", "$id", "$comment", "$anchor", "$vocabulary", "$dynamicAnchor", "$defs"];
/// Rules that are worth telling.
const TOLD: [&str; 30] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minItems",
    "maxItems",
    "uniqueItems",
    "contains",
    "minContains",
    "maxContains",
    "minProperties",
    "maxProperties",
    "propertyNames",
    "patternProperties",
    "dependentRequired",
    "dependentSchemas",
    "prefixItems",
    "enum",
    "const",
    "default",
    "not",
    "oneOf",
    "allOf",
    "if",
    "then",
];

/// `prefixItems` as the dialect has it.
pub(super) fn tuples(
    schema: &mut Map<String, Value>,
    path: &str,
    said: &mut Vec<String>,
    pass: &mut Pass<'_>,
) {
    let dialect = pass.dialect;
    if dialect.tuples == Tuples::Keep {
        return items(schema, pass);
    }
    let Some(Value::Array(prefix)) = schema.shift_remove("prefixItems") else { return items(schema, pass) };
    let rest = schema.shift_remove("items");
    let count = prefix.len() as u64;
    let most = schema.get("maxItems").and_then(Value::as_u64);
    let is_whole = rest == Some(Value::Bool(false)) || most.is_some_and(|most| most <= count);
    if is_whole && most.is_none_or(|most| most > count) {
        schema.insert("maxItems".into(), count.into());
    }
    match dialect.tuples {
        Tuples::NotStrict => pass.block(path, "prefixItems"),
        Tuples::AnyOfItems => {
            let mut arms: Vec<Value> = Vec::new();
            let rest = rest.filter(|_| !is_whole).or_else(|| (!is_whole).then_some(Value::Bool(true)));
            for arm in prefix.into_iter().chain(rest) {
                if !arms.contains(&arm) {
                    arms.push(arm);
                }
            }
            pass.note(path, "prefixItems", LossyAction::Widened);
            let items = match arms.len() {
                1 => arms.pop().unwrap_or(Value::Bool(true)),
                _ => serde_json::json!({ "anyOf": arms }),
            };
            schema.insert("items".into(), items);
        }
        _ => {
            said.push(rule("prefixItems", &Value::Array(prefix)));
            pass.note(path, "prefixItems", LossyAction::Described);
        }
    }
    items(schema, pass);
}

/// An array says what its items are where every schema must name a type.
fn items(schema: &mut Map<String, Value>, pass: &Pass<'_>) {
    if pass.is_typed() && schema.get("type").is_some_and(|name| name == "array") {
        schema.entry("items").or_insert(Value::Bool(true));
    }
}

pub(super) fn rewrite(
    schema: &mut Map<String, Value>,
    path: &str,
    said: &mut Vec<String>,
    pass: &mut Pass<'_>,
) {
    if schema.get("default").is_some_and(Value::is_null) {
        schema.shift_remove("default");
    }
    if pass.dialect.inclusive_bounds {
        inclusive(schema, "exclusiveMinimum", "minimum", 1, path, pass);
        inclusive(schema, "exclusiveMaximum", "maximum", -1, path, pass);
    }
    let keywords: Vec<String> = schema.keys().cloned().collect();
    for keyword in keywords {
        if arrives(schema, &keyword, pass) {
            continue;
        }
        let Some(value) = schema.shift_remove(&keyword) else { continue };
        if SILENT.contains(&keyword.as_str()) {
            continue;
        }
        let is_rust_format = keyword == "format" && value.as_str().is_some_and(is_rust_integer);
        let action = if TOLD.contains(&keyword.as_str()) && !is_rust_format {
            said.push(rule(&keyword, &value));
            LossyAction::Described
        } else {
            LossyAction::Dropped
        };
        pass.note(path, &keyword, action);
    }
}

/// Whether a keyword with its value is something that the provider takes.
fn arrives(schema: &Map<String, Value>, keyword: &str, pass: &Pass<'_>) -> bool {
    let dialect = pass.dialect;
    let Some(value) = schema.get(keyword).filter(|_| dialect.keywords.contains(&keyword)) else {
        return false;
    };
    match keyword {
        "format" => match dialect.formats {
            Formats::All => true,
            Formats::NoRustIntegers => !value.as_str().is_some_and(is_rust_integer),
            Formats::Only(known) => value.as_str().is_some_and(|name| known.contains(&name)),
        },
        "pattern" => dialect.look_around || !value.as_str().is_some_and(looks_around),
        "minLength" | "maxLength" => match dialect.lengths {
            Lengths::Keep => true,
            Lengths::AtMost(most) => value.as_u64().is_some_and(|length| length <= most),
            Lengths::Alone => !schema.contains_key("pattern") && !schema.contains_key("format"),
        },
        "minItems" => !dialect.only_first_item || value.as_u64().is_some_and(|least| least <= 1),
        "enum" if dialect.text_enums_only => {
            schema.get("type").is_some_and(|name| name == "string")
                && value.as_array().is_some_and(|values| values.iter().all(Value::is_string))
        }
        _ => true,
    }
}

/// Formats of integers as Rust names them.
fn is_rust_integer(format: &str) -> bool {
    format.starts_with("uint") || matches!(format, "int" | "int8" | "int16" | "int128")
}

/// Whether a pattern needs more than a plain engine has.
fn looks_around(pattern: &str) -> bool {
    ["(?=", "(?!", "(?<=", "(?<!", "\\b", "\\B", "\\1", "\\k<"].iter().any(|part| pattern.contains(part))
}

/// An exclusive bound as an inclusive one: exactly for integers, and otherwise one value too wide.
fn inclusive(
    schema: &mut Map<String, Value>,
    exclusive: &str,
    bound: &str,
    step: i64,
    path: &str,
    pass: &mut Pass<'_>,
) {
    let Some(open) = schema.get(exclusive).cloned() else { return };
    let is_integer = schema.get("type").is_some_and(|name| name == "integer");
    let exact = open.as_i64().filter(|_| is_integer).and_then(|open| open.checked_add(step));
    let closed = match exact {
        Some(closed) => Value::from(closed),
        None => open.clone(),
    };
    let tighter = match (schema.get(bound).and_then(Value::as_f64), closed.as_f64()) {
        (Some(own), Some(new)) if step > 0 => new > own,
        (Some(own), Some(new)) => new < own,
        _ => true,
    };
    if tighter {
        schema.insert(bound.into(), closed);
    }
    if exact.is_some() {
        schema.shift_remove(exclusive);
    } else {
        // What is left of the exclusive bound is told in the description.
        pass.note(path, bound, LossyAction::Widened);
    }
}
