//! Names of properties that a provider does not take, and those that stand for them.

use serde_json::{Map, Value};

use super::Pass;
use crate::harness::message::Spelling;
use crate::harness::tool::alias::replaced;

/// The properties whose names break a rule, each with the name that stands for it. The same for the same names.
pub(super) fn stand_ins(properties: &Map<String, Value>, rule: &Spelling) -> Vec<(String, String)> {
    let mut renamed: Vec<(String, String)> = Vec::new();
    for own in properties.keys().filter(|own| !rule.accepts(own)) {
        let base = replaced(own, rule);
        let cut = |most: usize| base.chars().take(most).collect::<String>();
        let mut shown = cut(rule.max);
        let mut number = 2;
        while shown.is_empty()
            || properties.contains_key(&shown)
            || renamed.iter().any(|(_, other)| *other == shown)
        {
            let suffix = format!("_{number}");
            shown = cut(rule.max.saturating_sub(suffix.len())) + &suffix;
            number += 1;
        }
        renamed.push((own.clone(), shown));
    }
    renamed
}

/// Whether a schema declares a property, at any depth, whose name breaks a rule.
pub(super) fn renames(schema: &Value, rule: &Spelling) -> bool {
    let declares = |keyword: &str, value: &Value| {
        keyword == "properties"
            && value.as_object().is_some_and(|properties| properties.keys().any(|own| !rule.accepts(own)))
    };
    match schema {
        Value::Object(entries) => {
            entries.iter().any(|(keyword, value)| declares(keyword, value) || renames(value, rule))
        }
        Value::Array(items) => items.iter().any(|item| renames(item, rule)),
        _ => false,
    }
}

/// Renames properties where the dialect wants it.
pub(super) fn rename(schema: &mut Map<String, Value>, pass: &Pass<'_>) {
    let Some(rule) = &pass.dialect.property_name else { return };
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    let renamed = stand_ins(properties, rule);
    if renamed.is_empty() {
        return;
    }
    let shown = |own: &str| renamed.iter().find(|(name, _)| name == own).map(|(_, shown)| shown.clone());
    let before = std::mem::take(properties);
    properties.extend(before.into_iter().map(|(own, schema)| (shown(&own).unwrap_or(own), schema)));
    for name in schema.get_mut("required").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(shown) = name.as_str().and_then(shown) {
            *name = shown.into();
        }
    }
}
