//! The keywords of JSON Schema by what their values are.

use serde_json::Value;

use super::canonical::child;

/// What a keyword's value is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Schema,
    Schemas,
    NamedSchemas,
    Plain,
}

pub(crate) fn kind(keyword: &str) -> Kind {
    match keyword {
        "items"
        | "additionalProperties"
        | "not"
        | "if"
        | "then"
        | "else"
        | "contains"
        | "propertyNames"
        | "unevaluatedItems"
        | "unevaluatedProperties"
        | "contentSchema" => Kind::Schema,
        "anyOf" | "oneOf" | "allOf" | "prefixItems" => Kind::Schemas,
        "properties" | "$defs" | "definitions" | "patternProperties" | "dependentSchemas" => {
            Kind::NamedSchemas
        }
        _ => Kind::Plain,
    }
}

/// Changes each schema in the value of a keyword at `path`; `change` is told the JSON Pointer to it.
pub(crate) fn change_schemas(
    keyword: &str,
    value: &mut Value,
    path: &str,
    mut change: impl FnMut(&mut Value, &str),
) {
    match (kind(keyword), value) {
        (Kind::Schema, schema) => change(schema, &format!("{path}/{keyword}")),
        (Kind::Schemas, Value::Array(schemas)) => {
            for (number, schema) in schemas.iter_mut().enumerate() {
                change(schema, &format!("{path}/{keyword}/{number}"));
            }
        }
        (Kind::NamedSchemas, Value::Object(schemas)) => {
            for (name, schema) in schemas {
                change(schema, &child(path, keyword, name));
            }
        }
        _ => {}
    }
}

/// The value of a keyword at `path` with what `copy` makes of each schema in it.
pub(crate) fn copy_schemas(
    keyword: &str,
    value: &Value,
    path: &str,
    mut copy: impl FnMut(&Value, &str) -> Value,
) -> Value {
    match (kind(keyword), value) {
        (Kind::Schema, schema) => copy(schema, &format!("{path}/{keyword}")),
        (Kind::Schemas, Value::Array(schemas)) => {
            let numbered = schemas.iter().enumerate();
            numbered.map(|(number, schema)| copy(schema, &format!("{path}/{keyword}/{number}"))).collect()
        }
        (Kind::NamedSchemas, Value::Object(schemas)) => {
            let named = schemas.iter();
            Value::Object(
                named
                    .map(|(name, schema)| (name.clone(), copy(schema, &child(path, keyword, name))))
                    .collect(),
            )
        }
        _ => value.clone(),
    }
}
