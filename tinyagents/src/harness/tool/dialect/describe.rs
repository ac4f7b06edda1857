//! Telling a rule in a description.

use serde_json::{Map, Value};

use crate::harness::message::shortened;

/// Longer values are shortened.
const LONGEST: usize = 200;

/// A rule in words: `minimum: 1`.
pub(super) fn rule(keyword: &str, value: &Value) -> String {
    let value = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    format!("{keyword}: {}", shortened(&value, LONGEST))
}

/// Ends a schema's description with rules that it no longer holds.
pub(super) fn tell(schema: &mut Map<String, Value>, rules: &[String]) {
    if rules.is_empty() {
        return;
    }
    let told = format!("({})", rules.join(", "));
    let description = match schema.get("description").and_then(Value::as_str) {
        Some(text) if text.ends_with(&told) => text.to_string(),
        Some(text) if !text.is_empty() => format!("{text} {told}"),
        _ => told,
    };
    schema.insert("description".into(), description.into());
}
