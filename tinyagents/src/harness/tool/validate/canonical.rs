//! The one form in which the library writes schemas, and the words it uses for types.

use schemars::Schema;
use serde_json::{Map, Number, Value};

/// Keywords whose value is one schema.
const ONE: [&str; 8] =
    ["items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"];
/// Keywords whose value is a list of schemas.
const LIST: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];
/// Keywords whose value maps names to schemas.
const MAP: [&str; 4] = ["properties", "$defs", "patternProperties", "dependentSchemas"];

/// Brings a schema from schemars into canonical form: no `title`, no `$schema`, and bounds in place of the
/// Rust-specific integer formats, which no provider knows.
pub(crate) fn normalise(schema: &mut Value) {
    let Value::Object(object) = schema else { return };
    object.shift_remove("$schema");
    object.shift_remove("title");
    rust_format(object);
    for keyword in ONE {
        if let Some(schema) = object.get_mut(keyword) {
            normalise(schema);
        }
    }
    for keyword in LIST {
        if let Some(Value::Array(schemas)) = object.get_mut(keyword) {
            schemas.iter_mut().for_each(normalise);
        }
    }
    for keyword in MAP {
        if let Some(Value::Object(schemas)) = object.get_mut(keyword) {
            schemas.values_mut().for_each(normalise);
        }
    }
}

fn rust_format(object: &mut Map<String, Value>) {
    let Some(format) = object.get("format").and_then(Value::as_str) else { return };
    let (min, max): (Option<i64>, Option<i64>) = match format {
        "int8" => (Some(i8::MIN.into()), Some(i8::MAX.into())),
        "int16" => (Some(i16::MIN.into()), Some(i16::MAX.into())),
        "int32" => (Some(i32::MIN.into()), Some(i32::MAX.into())),
        "uint8" => (Some(0), Some(u8::MAX.into())),
        "uint16" => (Some(0), Some(u16::MAX.into())),
        "uint32" => (Some(0), Some(u32::MAX.into())),
        "uint64" | "uint128" | "uint" => (Some(0), None),
        "int64" | "int128" | "int" | "float" | "double" => (None, None),
        _ => return,
    };
    object.shift_remove("format");
    for (keyword, open, bound) in [("minimum", "exclusiveMinimum", min), ("maximum", "exclusiveMaximum", max)]
    {
        // A bound that the author declared says more.
        if let Some(bound) = bound.filter(|_| !object.contains_key(open)) {
            object.entry(keyword).or_insert_with(|| bound.into());
        }
    }
}

/// Takes `null` out of an optional property's schema: the property is simply left out instead.
pub(crate) fn drop_null(schema: &mut Schema) {
    let Some(object) = schema.as_object_mut() else { return };
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::Array(arms)) = object.get_mut("anyOf") {
        arms.retain(|arm| arm.get("type").is_none_or(|name| name != "null"));
        if let [Value::Object(only)] = arms.as_slice() {
            let only = only.clone();
            object.shift_remove("anyOf");
            for (keyword, value) in only {
                object.entry(keyword).or_insert(value);
            }
        }
    }
}

/// A value as JSON with sorted keys: equal values give equal texts.
pub(crate) fn sorted_json(value: &Value) -> String {
    fn sorted(value: &Value) -> Value {
        match value {
            Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
            Value::Object(entries) => {
                let mut entries: Vec<_> =
                    entries.iter().map(|(key, value)| (key.clone(), sorted(value))).collect();
                entries.sort_by(|(a, _), (b, _)| a.cmp(b));
                Value::Object(entries.into_iter().collect())
            }
            other => other.clone(),
        }
    }
    sorted(value).to_string()
}

/// The schema word for a value's type, with its article.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// An error text of serde with schema words in place of Rust's type names.
pub(crate) fn schema_words(reason: &str) -> String {
    let Some((before, expected)) = reason.rsplit_once("expected ") else { return reason.to_string() };
    let word = match expected.split([' ', ',']).next().unwrap_or_default() {
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" | "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => {
            "an integer in range"
        }
        "f32" | "f64" => "a number",
        "struct" | "map" => "an object",
        "tuple" => "an array",
        _ => return reason.to_string(),
    };
    format!("{before}expected {word}")
}

/// Rewrites integral floats below 2^53 to integers, so that `5.0` decodes as what it is. Returns nothing if there
/// is none, which is the usual case.
pub(crate) fn integral_floats(value: &Value) -> Option<Value> {
    fn present(value: &Value) -> bool {
        match value {
            Value::Number(number) => integral(number).is_some(),
            Value::Array(items) => items.iter().any(present),
            Value::Object(entries) => entries.values().any(present),
            _ => false,
        }
    }
    fn rewrite(value: &mut Value) {
        match value {
            Value::Number(number) => {
                if let Some(integer) = integral(number) {
                    *number = integer.into();
                }
            }
            Value::Array(items) => items.iter_mut().for_each(rewrite),
            Value::Object(entries) => entries.values_mut().for_each(rewrite),
            _ => {}
        }
    }
    present(value).then(|| {
        let mut value = value.clone();
        rewrite(&mut value);
        value
    })
}

fn integral(number: &Number) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0; // 2^53: every integer below is a float of its own
    let float = number.is_f64().then(|| number.as_f64()).flatten()?;
    #[expect(clippy::cast_possible_truncation, reason = "checked to be an integer within the exact range")]
    (float.fract() == 0.0 && float.abs() < EXACT).then_some(float as i64)
}
