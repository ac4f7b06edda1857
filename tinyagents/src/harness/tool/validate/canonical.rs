//! The one form in which the library writes schemas, and the words it uses for types.

use schemars::Schema;
use serde_json::{Map, Number, Value};

use super::Width;
use super::keywords::{Kind, change_schemas, kind};

/// Brings a schema from schemars into canonical form.
///
/// No `title`, no `$schema`; bounds in place of the Rust-specific integer formats, which no provider knows; `{}` in
/// place of `true`; objects closed, also where the type would skip an unknown key in silence; an optional property
/// without `null`, which says the same as leaving it out; the documented variants of a plain enum as one list.
pub(crate) fn normalise(schema: &mut Value) {
    let mut extended = Vec::new();
    extended_definitions(schema, &mut extended);
    normalise_in(schema, Place::Alone);
    let Some(Value::Object(definitions)) = schema.get_mut("$defs") else { return };
    for name in extended {
        if let Some(Value::Object(definition)) = definitions.get_mut(&name) {
            if definition.get("additionalProperties") == Some(&Value::Bool(false)) {
                definition.shift_remove("additionalProperties");
            }
        }
    }
}

/// As [`normalise`], for what a tool gives back: there `null` is what an empty option is written as, and a later
/// version may write more keys.
pub(crate) fn normalise_output(schema: &mut Value) {
    normalise_in(schema, Place::Output);
}

/// Where a schema stands.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// Nothing else describes the value.
    Alone,
    /// Another schema says more about the same object, which thus cannot be closed here.
    Part,
    /// In what a tool gives back.
    Output,
}

/// The definitions that a reference adds properties to, and that do not say themselves which they take: the tag of an
/// enum in a recursive type.
fn extended_definitions(value: &Value, names: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            let target =
                object.get("$ref").and_then(Value::as_str).filter(|_| object.contains_key("properties"));
            names.extend(target.and_then(|target| target.strip_prefix("#/$defs/")).map(str::to_owned));
            object.values().for_each(|value| extended_definitions(value, names));
        }
        Value::Array(items) => items.iter().for_each(|item| extended_definitions(item, names)),
        _ => {}
    }
}

fn normalise_in(schema: &mut Value, place: Place) {
    let alone = if place == Place::Output { Place::Output } else { Place::Alone };
    if *schema == Value::Bool(true) {
        *schema = Value::Object(Map::new());
    }
    let Value::Object(object) = schema else { return };
    object.shift_remove("$schema");
    object.shift_remove("title");
    if object.get("default").is_some_and(Value::is_null) {
        object.shift_remove("default");
    }
    rust_format(object);
    let is_shared = object.contains_key("properties") || object.contains_key("allOf");
    for (keyword, value) in object.iter_mut() {
        let is_part =
            matches!(keyword.as_str(), "anyOf" | "oneOf" | "allOf") && (place == Place::Part || is_shared);
        let below = if is_part && place != Place::Output { Place::Part } else { alone };
        // Elsewhere a boolean in place of one schema is a word of its own: open or closed.
        if keyword != "items" && kind(keyword) == Kind::Schema && value.is_boolean() {
            continue;
        }
        change_schemas(keyword, value, "", |schema, _| normalise_in(schema, below));
    }
    list_variants(object);
    if place != Place::Output {
        optional_without_null(object);
    }
    if place == Place::Alone {
        close(object);
    }
}

/// A plain enum whose variants are documented comes as one alternative per variant. One list of values is what every
/// provider takes; what the variants mean moves into the description.
fn list_variants(object: &mut Map<String, Value>) {
    let Some(Value::Array(arms)) = object.get("oneOf") else { return };
    let (mut values, mut meanings) = (Vec::new(), Vec::new());
    for arm in arms {
        let Value::Object(arm) = arm else { return };
        let known = ["type", "const", "enum", "description"];
        if arm.get("type").is_none_or(|kind| kind != "string")
            || !arm.keys().all(|key| known.contains(&&**key))
        {
            return;
        }
        match (arm.get("const"), arm.get("enum")) {
            (Some(value), None) => {
                if let (Some(name), Some(text)) =
                    (value.as_str(), arm.get("description").and_then(Value::as_str))
                {
                    meanings.push(format!("- `{name}`: {text}"));
                }
                values.push(value.clone());
            }
            (None, Some(Value::Array(listed))) => values.extend(listed.iter().cloned()),
            _ => return,
        }
    }
    if object.contains_key("type") || object.contains_key("enum") {
        return;
    }
    object.shift_remove("oneOf");
    object.insert("type".into(), "string".into());
    object.insert("enum".into(), Value::Array(values));
    if !meanings.is_empty() {
        let mut text =
            object.get("description").and_then(Value::as_str).map(str::to_owned).unwrap_or_default();
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(&meanings.join("\n"));
        object.insert("description".into(), text.into());
    }
}

fn optional_without_null(object: &mut Map<String, Value>) {
    let required = object.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let Some(Value::Object(properties)) = object.get_mut("properties") else { return };
    for (name, schema) in properties {
        // With another default, `null` is a value of its own.
        if schema.get("default").is_none() && !required.iter().any(|known| known == name) {
            without_null(schema);
        }
    }
}

/// Closes an object that nothing else describes.
fn close(object: &mut Map<String, Value>) {
    const SAYS_MORE: [&str; 9] = [
        "additionalProperties",
        "patternProperties",
        "unevaluatedProperties",
        "propertyNames",
        "$ref",
        "anyOf",
        "oneOf",
        "allOf",
        "if",
    ];
    let is_object = match object.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
        Some(kind) => kind == "object",
        None => false,
    };
    if is_object && !SAYS_MORE.iter().any(|keyword| object.contains_key(*keyword)) {
        object.entry("properties").or_insert_with(|| Value::Object(Map::new()));
        object.insert("additionalProperties".into(), false.into());
    }
}

fn rust_format(object: &mut Map<String, Value>) {
    let Some(format) = object.get("format").and_then(Value::as_str) else { return };
    let float = |value: f32| Number::from_f64(f64::from(value));
    let (min, max): (Option<Number>, Option<Number>) = match format {
        // A larger number would be read as infinity.
        "float" => (float(f32::MIN), float(f32::MAX)),
        "int8" => (Some(i8::MIN.into()), Some(i8::MAX.into())),
        "int16" => (Some(i16::MIN.into()), Some(i16::MAX.into())),
        "int32" => (Some(i32::MIN.into()), Some(i32::MAX.into())),
        "uint8" => (Some(0.into()), Some(u8::MAX.into())),
        "uint16" => (Some(0.into()), Some(u16::MAX.into())),
        "uint32" => (Some(0.into()), Some(u32::MAX.into())),
        "uint64" | "uint128" | "uint" => (Some(0.into()), None),
        "int128" | "double" => (None, None),
        _ => return,
    };
    // The wide ones stay until nothing moves any more: see `take_widths`.
    if !matches!(format, "uint64" | "uint") {
        object.shift_remove("format");
    }
    for (keyword, open, bound) in [("minimum", "exclusiveMinimum", min), ("maximum", "exclusiveMaximum", max)]
    {
        // A bound that the author declared says more.
        if let Some(bound) = bound.filter(|_| !object.contains_key(open)) {
            object.entry(keyword).or_insert(Value::Number(bound));
        }
    }
}

/// Takes out the formats of the widest integers, which no schema has a portable bound for, and says where they were,
/// by JSON Pointer.
pub(crate) fn take_widths(schema: &mut Value) -> Vec<(String, Width)> {
    fn take(schema: &mut Value, path: &str, widths: &mut Vec<(String, Width)>) {
        let Value::Object(object) = schema else { return };
        let width = match object.get("format").and_then(Value::as_str) {
            Some("int64" | "int") => Some(Width::Signed),
            Some("uint64" | "uint") => Some(Width::Unsigned),
            _ => None,
        };
        if let Some(width) = width {
            object.shift_remove("format");
            widths.push((path.to_string(), width));
        }
        for (keyword, value) in object {
            change_schemas(keyword, value, path, |schema, path| take(schema, path, widths));
        }
    }
    let mut widths = Vec::new();
    take(schema, "", &mut widths);
    widths
}

/// The JSON Pointer to an entry of a keyword's object.
pub(crate) fn child(path: &str, keyword: &str, name: &str) -> String {
    format!("{path}/{keyword}/{}", escaped(name))
}

/// A name as a part of a JSON Pointer (RFC 6901).
pub(crate) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Whether `null` stands anywhere in a value.
pub(crate) fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(has_null),
        Value::Object(entries) => entries.values().any(has_null),
        _ => false,
    }
}

/// Takes `null` out of an optional property's schema: the property is simply left out instead.
pub(crate) fn drop_null(schema: &mut Schema) {
    if let Some(object) = schema.as_object_mut() {
        object_without_null(object);
    }
}

fn without_null(schema: &mut Value) {
    if let Value::Object(object) = schema {
        object_without_null(object);
    }
}

fn object_without_null(object: &mut Map<String, Value>) {
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

pub(super) fn integral(number: &Number) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0; // 2^53: every integer below is a float of its own
    let float = number.is_f64().then(|| number.as_f64()).flatten()?;
    #[expect(clippy::cast_possible_truncation, reason = "checked to be an integer within the exact range")]
    (float.fract() == 0.0 && float.abs() < EXACT).then_some(float as i64)
}
