//! What the keywords of JSON Schema take, and of which values they speak.

use serde_json::Value;

use crate::harness::tool::validate::keywords::{Kind, kind};

/// Deeper schemas are cut off.
pub(super) const MAX_DEPTH: usize = 48;
/// Larger ones as well.
pub(super) const MAX_NODES: usize = 5_000;

/// Whether a keyword's value has the form that the keyword asks for.
pub(super) fn is_well_formed(keyword: &str, value: &Value) -> bool {
    let texts = |list: &[Value]| list.iter().all(Value::is_string);
    match keyword {
        "type" => match value {
            Value::String(name) => is_type(name),
            Value::Array(names) => {
                !names.is_empty() && names.iter().all(|name| name.as_str().is_some_and(is_type))
            }
            _ => false,
        },
        "enum" => value.as_array().is_some_and(|list| !list.is_empty()),
        "required" => value.as_array().is_some_and(|list| texts(list)),
        "anyOf" | "oneOf" | "allOf" | "prefixItems" => value.as_array().is_some_and(|list| !list.is_empty()),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => value.is_number(),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties"
        | "minContains" | "maxContains" => value.is_u64(),
        "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" => value.is_boolean(),
        "$ref" | "description" | "pattern" | "format" => value.is_string(),
        _ => match kind(keyword) {
            Kind::Schema => value.is_object() || value.is_boolean(),
            Kind::NamedSchemas => value.is_object(),
            _ => true,
        },
    }
}

fn is_type(name: &str) -> bool {
    matches!(name, "null" | "boolean" | "integer" | "number" | "string" | "array" | "object")
}

/// Whether a keyword says something about values of a type. Keywords of no type in particular say something of all.
pub(super) fn applies(keyword: &str, type_name: &str) -> bool {
    match keyword {
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
            matches!(type_name, "integer" | "number")
        }
        "minLength" | "maxLength" | "pattern" => type_name == "string",
        "format" => matches!(type_name, "string" | "integer" | "number"),
        "items" | "prefixItems" | "minItems" | "maxItems" | "uniqueItems" | "contains" | "minContains"
        | "maxContains" | "unevaluatedItems" => type_name == "array",
        "properties"
        | "required"
        | "additionalProperties"
        | "patternProperties"
        | "propertyNames"
        | "minProperties"
        | "maxProperties"
        | "dependentRequired"
        | "dependentSchemas"
        | "unevaluatedProperties" => type_name == "object",
        _ => true,
    }
}
