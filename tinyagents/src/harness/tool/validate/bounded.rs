//! How deep and how large a schema may be, in whatever keyword.
//!
//! Guarantee: everything else that walks a schema walks one that was bounded here.

use serde_json::Value;

use super::SchemaError;
use super::check::Path;
use super::compile::{MAX_DEPTH, MAX_NODES, too_large};

/// JSON values within each other, in whatever keyword. Each subschema is one or two of them.
const MAX_NESTING: usize = 2 * MAX_DEPTH;
/// JSON values in all: more than any schema of `MAX_NODES` parts has, lists of values included.
const MAX_VALUES: usize = 10 * MAX_NODES;

/// Refuses what is nested too deeply, or too large.
pub(super) fn bounded(schema: &Value) -> Result<(), SchemaError> {
    let mut values = MAX_VALUES;
    walk(schema, &Path::Root, MAX_NESTING, &mut values)
}

fn walk(value: &Value, at: &Path<'_>, levels: usize, values: &mut usize) -> Result<(), SchemaError> {
    if levels == 0 || *values == 0 {
        return Err(too_large(&at.to_string()));
    }
    *values -= 1;
    match value {
        Value::Array(items) => {
            let mut items = items.iter().enumerate();
            items.try_for_each(|(index, item)| walk(item, &Path::Index(at, index), levels - 1, values))
        }
        Value::Object(entries) => {
            let mut entries = entries.iter();
            entries.try_for_each(|(name, value)| walk(value, &Path::Key(at, name), levels - 1, values))
        }
        _ => Ok(()),
    }
}
