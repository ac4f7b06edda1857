//! Names that a provider does not take: what is sent under those that stand for them comes back as it was meant.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use proptest::prelude::*;
use serde_json::Map;
use tinyagents::harness::tool::dialect::{LossyAction, Maps};

use super::accepted::{accepted, as_json_schema, canonical, value, with_nulls};
use super::{SchemaDialect, Value};

/// Names beside each other: some become the same when they are rewritten or cut.
const NAMES: [&str; 20] = [
    "a.b",
    "a b",
    "a_b",
    "a_b_2",
    "$ref",
    "",
    "é",
    "日本語",
    "1st",
    "_1st",
    "a-b",
    "a/b~c",
    "properties",
    "value",
    "a name of more than sixty-four characters, which is cut by every rule that has a length: one",
    "a name of more than sixty-four characters, which is cut by every rule that has a length: two",
    "a_name_of_more_than_sixty_four_characters__which_is_cut_by_every",
    "\"quoted\"",
    "tab\t",
    "kind",
];

/// The schemas within a keyword's value.
fn within<'s>(keyword: &str, value: &'s mut Value) -> Vec<&'s mut Value> {
    match (keyword, value) {
        ("properties" | "$defs", Value::Object(named)) => named.values_mut().collect(),
        (_, Value::Array(list)) => list.iter_mut().collect(),
        (_, one) => vec![one],
    }
}

/// Gives every property of a schema an odd name, and a number in its description.
fn odd(schema: &mut Value, start: usize, number: &mut usize) {
    let Value::Object(object) = schema else { return };
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        let (mut named, mut names) = (Map::new(), BTreeMap::new());
        for (index, (own, mut property)) in std::mem::take(properties).into_iter().enumerate() {
            let name = NAMES[(start + *number + index) % NAMES.len()];
            property["description"] = format!("#{} ", *number + index).into();
            names.insert(own, name);
            named.insert(name.into(), property);
        }
        *number += named.len();
        *properties = named;
        for name in object["required"].as_array_mut().unwrap() {
            *name = names[name.as_str().unwrap()].into();
        }
    }
    for (keyword, value) in object {
        within(keyword, value).into_iter().for_each(|part| odd(part, start, number));
    }
}

/// The number of a property, and of those that an inlined type repeats.
fn number_of(property: &Value) -> Option<&str> {
    property.get("description")?.as_str()?.strip_prefix('#')?.split(' ').next()
}

/// The shown name of each property by its number.
fn shown_names(schema: &mut Value, names: &mut BTreeMap<String, String>) {
    let Value::Object(object) = schema else { return };
    for (name, property) in object.get("properties").and_then(Value::as_object).into_iter().flatten() {
        if let Some(number) = number_of(property) {
            let before = names.insert(number.into(), name.clone());
            assert!(before.is_none_or(|before| before == *name), "one type, two names");
        }
    }
    for (keyword, value) in object {
        within(keyword, value).into_iter().for_each(|part| shown_names(part, names));
    }
}

/// The names under which a value is sent.
struct Shown<'s> {
    root: &'s Value,
    names: BTreeMap<String, String>,
    /// Whether a map's values are shown; else their schema is only told, with its own names.
    in_maps: bool,
}

impl Shown<'_> {
    fn renamed(&self, value: &Value, schema: &Value) -> Value {
        if let Some(target) = schema.get("$ref") {
            return self.renamed(value, self.root.pointer(&target.as_str().unwrap()[1..]).unwrap());
        }
        for arm in ["anyOf", "oneOf"].iter().filter_map(|keyword| schema.get(*keyword)?.as_array()).flatten()
        {
            let mut alone = arm.clone();
            alone["$defs"] = self.root["$defs"].clone();
            if jsonschema::is_valid(&alone, value) {
                return self.renamed(value, arm);
            }
        }
        match value {
            Value::Object(object) => {
                let shown = object.iter().map(|(name, value)| match schema["properties"].get(name) {
                    Some(own) => {
                        // What is told in a description only has its own names there.
                        let shown = number_of(own).and_then(|number| self.names.get(number)).unwrap_or(name);
                        (shown.clone(), self.renamed(value, own))
                    }
                    None if self.in_maps => {
                        (name.clone(), self.renamed(value, &schema["additionalProperties"]))
                    }
                    None => (name.clone(), value.clone()),
                });
                Value::Object(shown.collect())
            }
            Value::Array(items) => {
                let of = |n: usize| schema["prefixItems"].get(n).unwrap_or(&schema["items"]);
                items.iter().enumerate().map(|(n, item)| self.renamed(item, of(n))).collect()
            }
            other => other.clone(),
        }
    }
}

/// Values of one dialect.
#[derive(Default)]
struct Counts {
    /// Meant, sent, and come back.
    back: u32,
    /// Those among them that had other names on the way.
    other: u32,
    /// Sent by a provider, and valid under their own names.
    judged: u32,
}

fn counted(
    dialect: &SchemaDialect,
    canonical: &Value,
    judge: &jsonschema::Validator,
    seed: u64,
    counts: &mut Counts,
) -> Result<(), TestCaseError> {
    let adapted = accepted(dialect, canonical);
    let shown = jsonschema::validator_for(&as_json_schema(&adapted.schema)).unwrap();
    let in_maps = dialect.maps != Maps::Describe;
    let mut sender = Shown { root: canonical, names: BTreeMap::new(), in_maps };
    shown_names(&mut adapted.schema.clone(), &mut sender.names);
    let narrowed = adapted.notes.iter().any(|note| note.action == LossyAction::Narrowed);
    // What is sent here never has a key that is not declared.
    let mut lost = adapted.notes.iter().filter(|note| note.keyword != "additionalProperties");
    let is_whole = lost.next().is_none();
    let mut bits = seed;
    for _ in 0..8 {
        let sent = value(&adapted.schema, &adapted.schema, &mut bits, 0);
        if is_whole && shown.is_valid(&sent) {
            let back = dialect.map_back(sent.clone(), canonical);
            prop_assert!(judge.is_valid(&back), "{}: {sent}\n{back}\n{canonical}", dialect.name);
            counts.judged += 1;
        }
        let meant = value(canonical, canonical, &mut bits, 0);
        if narrowed || !judge.is_valid(&meant) {
            continue;
        }
        let mut sent = sender.renamed(&meant, canonical);
        counts.back += 1;
        counts.other += u32::from(sent != meant);
        if adapted.strict_ok && dialect.require_all {
            sent = with_nulls(sent, &adapted.schema, &adapted.schema);
        }
        prop_assert!(shown.is_valid(&sent), "{}: {sent}\n{canonical}\n{}", dialect.name, adapted.schema);
        let back = dialect.map_back(sent.clone(), canonical);
        prop_assert!(back == meant, "{}: {meant}\n{sent}\n{back}\n{canonical}", dialect.name);
    }
    Ok(())
}

#[test]
fn what_is_sent_under_shown_names_comes_back_and_is_judged_under_its_own() {
    let all = Mutex::new(BTreeMap::<&str, Counts>::new());
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(mut canonical in canonical(), start in 0..NAMES.len(), seed in any::<u64>())| {
        odd(&mut canonical, start, &mut 0);
        let judge = jsonschema::validator_for(&canonical).unwrap();
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        for dialect in SchemaDialect::all() {
            counted(&dialect, &canonical, &judge, seed, all.entry(dialect.name).or_default())?;
        }
    });
    let all = all.into_inner().unwrap();
    for dialect in SchemaDialect::all() {
        let Counts { back, other, judged } = all[dialect.name];
        println!(
            "{}: {back} values came back, {other} of them from other names; {judged} sent and judged",
            dialect.name
        );
        assert!(back > 0 && judged > 0, "{}", dialect.name);
        assert_eq!(other > 0, dialect.property_name.is_some(), "{}", dialect.name);
    }
}
