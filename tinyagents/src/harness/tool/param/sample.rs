//! Values that a parameter's schema takes, to find types that take less: a map's schema has no words for its keys.
//!
//! Guarantee: a parameter of which a sample is refused, or of which there is none, is known when the tool is first
//! described; its values are then read once before the body starts. Bounded, whatever the schema is.
//!
//! Not here: every value of a schema. A type that takes the samples is taken at its schema's word.

use serde_json::{Map, Value, json};

use super::input::Flat;
use super::{ArgDef, Decoder};
use crate::harness::tool::validate::example_of;

/// What a key is in a sample, and any other text: no number, no word of an enum, longer than a character.
const TEXT: &str = "no such key";
/// How many schemas are looked at for one parameter, and the longest text or list in a sample.
const MOST: usize = 4_096;

/// Whether the type of a parameter reads each sample of its schema, in the arguments that `root` describes.
pub(super) fn reads_samples(arg: &dyn ArgDef, flat: &[Flat], root: &Value) -> bool {
    let fields = flat.iter().find(|flat| flat.parameter == arg.name()).map(|flat| &*flat.fields);
    let is_own = |name: &String| match fields {
        Some(fields) => fields.contains(name),
        None => name == arg.name(),
    };
    let keyword = |keyword: &str| root.get(keyword).cloned().unwrap_or_default();
    let mut own = json!({ "properties": keyword("properties"), "required": keyword("required") });
    if let Some(Value::Object(properties)) = own.get_mut("properties") {
        properties.retain(|name, _| is_own(name));
    }
    [false, true].into_iter().all(|high| {
        let mut sampler = Sampler { root, high, within: Vec::new(), left: MOST };
        let samples = sampler.value(&own);
        let read = |sample: &Value| arg.unread(&Decoder { object: sample.as_object(), flat }).is_none();
        !samples.is_empty() && sampler.left > 0 && samples.iter().all(read)
    })
}

struct Sampler<'s> {
    root: &'s Value,
    /// Whether numbers and texts are as large as they may be, or as small.
    high: bool,
    /// The references that are being followed: a type within itself holds no new place.
    within: Vec<&'s str>,
    left: usize,
}

impl<'s> Sampler<'s> {
    /// Samples that go through every alternative at least once.
    fn value(&mut self, schema: &'s Value) -> Vec<Value> {
        match schema {
            Value::Object(schema) => self.schema(schema),
            Value::Bool(true) => vec![TEXT.into()],
            _ => Vec::new(),
        }
    }

    fn schema(&mut self, schema: &'s Map<String, Value>) -> Vec<Value> {
        if self.left == 0 {
            return Vec::new();
        }
        self.left -= 1;
        let mut parts = Vec::new();
        if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
            if self.within.contains(&target) {
                return Vec::new();
            }
            self.within.push(target);
            let named = target.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
            parts.push(named.map(|schema| self.value(schema)).unwrap_or_default());
            self.within.pop();
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Value::Array(arms)) = schema.get(keyword) {
                parts.push(arms.iter().flat_map(|arm| self.value(arm)).collect());
            }
        }
        for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            parts.push(self.value(part));
        }
        let listed = schema.get("enum").and_then(Value::as_array).and_then(|values| values.first());
        let types = match schema.get("type") {
            Some(Value::Array(types)) => types.as_slice(),
            Some(name) => std::slice::from_ref(name),
            None => &[],
        };
        if let Some(only) = schema.get("const").or(listed) {
            parts.push(vec![only.clone()]);
        } else if !types.is_empty() {
            let types = types.iter().filter_map(Value::as_str);
            parts.push(types.flat_map(|name| self.of_type(name, schema)).collect());
        } else if schema.contains_key("properties") {
            parts.push(self.object(schema));
        } else if parts.is_empty() {
            parts.push(vec![TEXT.into()]);
        }
        together(&parts, |values| {
            let mut values = values.into_iter();
            let first = values.next().unwrap_or_default();
            values.fold(first, |whole, part| match (whole, part) {
                (Value::Object(mut whole), Value::Object(part)) => {
                    whole.extend(part);
                    whole.into()
                }
                (whole, _) => whole,
            })
        })
    }

    fn of_type(&mut self, name: &str, schema: &'s Map<String, Value>) -> Vec<Value> {
        let bound = |keyword: &str| schema.get(keyword).filter(|bound| bound.is_number()).cloned();
        let size =
            |keyword: &str| schema.get(keyword).and_then(Value::as_u64).and_then(|n| n.try_into().ok());
        let within = |least: &str, wanted: usize, most: &str| {
            wanted.max(size(least).unwrap_or(0)).min(size(most).unwrap_or(MOST)).min(MOST)
        };
        match name {
            "null" => vec![Value::Null],
            "boolean" => vec![self.high.into()],
            "integer" if self.high => {
                let widest = if bound("minimum").is_some_and(|least| least.is_u64()) {
                    u64::MAX.into()
                } else {
                    i64::MAX.into()
                };
                vec![bound("maximum").unwrap_or(widest)]
            }
            "integer" => vec![bound("minimum").unwrap_or_else(|| i64::MIN.into())],
            "number" => {
                vec![bound(if self.high { "maximum" } else { "minimum" }).unwrap_or_else(|| 0.5.into())]
            }
            "string" => {
                if let Some(text) = schema.get("format").and_then(Value::as_str).and_then(example_of) {
                    return vec![text.into()];
                }
                let wanted = if self.high { TEXT.len() } else { 0 };
                let length = within("minLength", wanted, "maxLength");
                vec![TEXT.chars().cycle().take(length).collect::<String>().into()]
            }
            "array" => self.array(schema, within("minItems", 1, "maxItems")),
            "object" => self.object(schema),
            _ => Vec::new(),
        }
    }

    fn array(&mut self, schema: &'s Map<String, Value>, count: usize) -> Vec<Value> {
        let prefix = schema.get("prefixItems").and_then(Value::as_array).into_iter().flatten();
        let mut items: Vec<_> = prefix.map(|item| self.value(item)).collect();
        if let Some(rest) = schema.get("items") {
            let rest = self.value(rest);
            let can_be_empty =
                rest.is_empty() && schema.get("minItems").and_then(Value::as_u64).unwrap_or(0) == 0;
            if !can_be_empty {
                items.extend(vec![rest; count.saturating_sub(items.len())]);
            }
        }
        together(&items, Value::Array)
    }

    fn object(&mut self, schema: &'s Map<String, Value>) -> Vec<Value> {
        let required = schema.get("required").and_then(Value::as_array);
        let (mut names, mut values) = (Vec::new(), Vec::new());
        for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let samples = self.value(property);
            let is_required = required.is_some_and(|names| names.iter().any(|other| other == name.as_str()));
            if is_required || !samples.is_empty() {
                names.push(name.as_str());
                values.push(samples);
            }
        }
        let patterns = schema.get("patternProperties").and_then(Value::as_object).into_iter().flatten();
        let patterns = patterns.map(|(_, entry)| entry);
        for entry in patterns.chain(schema.get("additionalProperties").filter(|entry| entry.is_object())) {
            let samples = self.value(entry);
            if !samples.is_empty() {
                names.push(TEXT);
                values.push(samples);
            }
        }
        together(&values, |values| names.iter().map(|name| (*name).to_owned()).zip(values).collect())
    }
}

/// Values made of one sample of each part, as many as it takes to use each sample. None where a part has none.
fn together(parts: &[Vec<Value>], make: impl Fn(Vec<Value>) -> Value) -> Vec<Value> {
    let count = parts.iter().map(Vec::len).max().unwrap_or(1);
    let one = |index: usize| parts.iter().map(|part| part.get(index).or(part.last()).cloned()).collect();
    (0..count).filter_map(one).map(make).collect()
}
