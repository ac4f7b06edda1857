//! Which keywords hold schemas, and where these apply.
//!
//! Guarantee: the keywords of every draft count, whatever the schema says it is written in.

use serde_json::Value;

use super::super::canonical::escaped;

/// Where a part applies, seen from the one that holds it.
pub(super) enum Edge<'s> {
    InPlace,
    Property(&'s str),
    AnyProperty,
    Names,
    Prefix,
    Items,
    /// Only where a reference leads to it.
    Nowhere,
}

/// The schemas that a keyword of any draft holds, each with where it applies and its name in the keyword's value.
pub(super) fn subschemas<'s>(keyword: &str, value: &'s Value) -> Vec<(Edge<'s>, Option<String>, &'s Value)> {
    let list = |items: &'s [Value], edge: fn() -> Edge<'s>| {
        items.iter().enumerate().map(|(index, item)| (edge(), Some(index.to_string()), item)).collect()
    };
    let map = |edge: fn(&'s str) -> Edge<'s>| {
        let entries = value.as_object().into_iter().flatten();
        entries.map(|(name, schema)| (edge(name), Some(escaped(name)), schema)).collect()
    };
    match (keyword, value) {
        ("allOf" | "anyOf" | "oneOf", Value::Array(items)) => list(items, || Edge::InPlace),
        ("prefixItems" | "items", Value::Array(items)) => list(items, || Edge::Prefix),
        ("not" | "if" | "then" | "else", _) => vec![(Edge::InPlace, None, value)],
        ("dependentSchemas" | "dependencies", _) => map(|_| Edge::InPlace),
        ("properties", _) => map(Edge::Property),
        ("patternProperties", _) => map(|_| Edge::AnyProperty),
        ("additionalProperties" | "unevaluatedProperties", _) => vec![(Edge::AnyProperty, None, value)],
        ("propertyNames", _) => vec![(Edge::Names, None, value)],
        ("items" | "contains" | "unevaluatedItems" | "additionalItems", _) => {
            vec![(Edge::Items, None, value)]
        }
        ("$defs" | "definitions", _) => map(|_| Edge::Nowhere),
        ("contentSchema", _) => vec![(Edge::Nowhere, None, value)],
        _ => Vec::new(),
    }
}

/// What a keyword refers to, and whether the reference is a recursive one of draft 2019-09.
pub(super) fn reference<'v>(keyword: &str, value: &'v Value) -> Option<(&'v str, bool)> {
    match keyword {
        "$ref" | "$dynamicRef" => Some((value.as_str()?, false)),
        "$recursiveRef" => Some((value.as_str()?, true)),
        _ => None,
    }
}
