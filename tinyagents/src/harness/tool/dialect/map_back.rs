//! From what a model sent under an adapted schema to what the canonical one speaks of.

use serde_json::{Map, Value};

use super::SchemaDialect;
use super::names::{renames, stand_ins};
use super::root::{WRAPPED, is_object};
use super::unions::takes_null;
use crate::harness::message::Spelling;
use crate::harness::tool::validate::canonical::{has_null, type_name};

/// References and alternatives within each other; deeper ones are left as they came.
const DEEPEST: usize = 64;

impl SchemaDialect {
    /// Undoes what [`adapt`](Self::adapt) changed in the values: an optional property that was sent as null because
    /// the dialect [requires all](Self::require_all) is left out, and arguments that are no object come out of
    /// theirs, and properties get their own names. The canonical schema judges the outcome.
    pub fn map_back(&self, mut arguments: Value, canonical: &Value) -> Value {
        if !is_object(canonical, canonical, 0) {
            if let Some(value) = arguments.as_object_mut().and_then(|object| object.shift_remove(WRAPPED)) {
                arguments = value;
            }
        }
        if self.may_map(&arguments, canonical) {
            let names = self.property_name.as_ref();
            let canonical_form = Canonical { document: canonical, names, nulls: self.require_all };
            canonical_form.restore(&mut arguments, canonical, 0);
        }
        arguments
    }

    /// Whether [`map_back`](Self::map_back) could change arguments of a schema whose root is an object: it costs a copy
    /// of them, and most have nothing to undo.
    pub(crate) fn may_map(&self, arguments: &Value, canonical: &Value) -> bool {
        (self.require_all && has_null(arguments))
            || self.property_name.as_ref().is_some_and(|rule| renames(canonical, rule))
    }
}

struct Canonical<'c> {
    document: &'c Value,
    /// The rule by which properties were renamed.
    names: Option<&'c Spelling>,
    /// Whether null stands for what is left out.
    nulls: bool,
}

impl<'c> Canonical<'c> {
    fn target(&self, schema: &'c Map<String, Value>) -> Option<&'c Value> {
        let target = schema.get("$ref")?.as_str()?.strip_prefix('#')?;
        self.document.pointer(target)
    }

    fn restore(&self, value: &mut Value, schema: &'c Value, depth: usize) {
        let Value::Object(schema) = schema else { return };
        if depth > DEEPEST || !(value.is_object() || value.is_array()) {
            return;
        }
        if let Some(target) = self.target(schema) {
            self.restore(value, target, depth + 1);
        }
        for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.restore(value, part, depth + 1);
        }
        for keyword in ["anyOf", "oneOf"] {
            let arms = schema.get(keyword).and_then(Value::as_array).into_iter().flatten();
            if let Some(arm) = { arms }.find(|arm| self.fits(value, arm, depth + 1)) {
                self.restore(value, arm, depth + 1);
            }
        }
        match value {
            Value::Object(entries) => {
                let required = schema.get("required").and_then(Value::as_array);
                let properties = schema.get("properties").and_then(Value::as_object);
                if let Some(properties) = properties {
                    self.own_names(entries, properties);
                }
                entries.retain(|name, value| {
                    let is_required =
                        required.is_some_and(|names| names.iter().any(|own| own == name.as_str()));
                    match properties.and_then(|properties| properties.get(name)) {
                        Some(own) if self.nulls && value.is_null() && !is_required => {
                            self.takes_null(own, depth + 1)
                        }
                        _ => true,
                    }
                });
                let others = schema.get("additionalProperties");
                for (name, value) in entries.iter_mut() {
                    let own = properties.and_then(|properties| properties.get(name));
                    if let Some(own) = own.or(others) {
                        self.restore(value, own, depth + 1);
                    }
                }
            }
            Value::Array(items) => {
                let prefix = schema.get("prefixItems").and_then(Value::as_array);
                let rest = schema.get("items");
                for (index, item) in items.iter_mut().enumerate() {
                    if let Some(own) = prefix.and_then(|prefix| prefix.get(index)).or(rest) {
                        self.restore(item, own, depth + 1);
                    }
                }
            }
            _ => {}
        }
    }

    fn own_names(&self, entries: &mut Map<String, Value>, properties: &Map<String, Value>) {
        for (own, shown) in self.names.map(|rule| stand_ins(properties, rule)).into_iter().flatten() {
            if let Some(value) = entries.shift_remove(&shown) {
                entries.insert(own, value);
            }
        }
    }

    fn takes_null(&self, schema: &'c Value, depth: usize) -> bool {
        let Value::Object(object) = schema else { return *schema == Value::Bool(true) };
        match self.target(object) {
            Some(target) if depth < DEEPEST => {
                let mut beside = object.clone();
                beside.shift_remove("$ref");
                self.takes_null(target, depth + 1) && takes_null(&beside)
            }
            _ => {
                let arm_takes = |arm: &'c Value| depth < DEEPEST && self.takes_null(arm, depth + 1);
                let arms = object.get("anyOf").or_else(|| object.get("oneOf")).and_then(Value::as_array);
                match arms {
                    Some(arms) if !object.contains_key("type") => arms.iter().any(arm_takes),
                    _ => takes_null(object),
                }
            }
        }
    }

    /// Whether a value, as it was sent, is meant as one of a schema: its type, its constants, and the names and
    /// values of its properties fit.
    fn fits(&self, value: &Value, schema: &'c Value, depth: usize) -> bool {
        let Value::Object(schema) = schema else { return *schema == Value::Bool(true) };
        if depth > DEEPEST {
            return true;
        }
        let named = |name: &Value| {
            let is = type_name(value);
            name == is || (name == "number" && is == "integer")
        };
        let by_type = match schema.get("type") {
            None => true,
            Some(Value::Array(names)) => names.iter().any(named),
            Some(name) => named(name),
        };
        let list = |keyword: &str| schema.get(keyword).and_then(Value::as_array);
        by_type
            && schema.get("const").is_none_or(|only| only == value)
            && list("enum").is_none_or(|values| values.contains(value))
            && self.target(schema).is_none_or(|target| self.fits(value, target, depth + 1))
            && ["anyOf", "oneOf"].iter().all(|keyword| {
                list(keyword).is_none_or(|arms| arms.iter().any(|arm| self.fits(value, arm, depth + 1)))
            })
            && self.entries_fit(value, schema, depth)
    }

    fn entries_fit(&self, value: &Value, schema: &'c Map<String, Value>, depth: usize) -> bool {
        let items = schema.get("items");
        match value {
            Value::Array(values) => {
                items.is_none_or(|own| values.iter().all(|v| self.fits(v, own, depth + 1)))
            }
            Value::Object(entries) => {
                let properties = schema.get("properties").and_then(Value::as_object);
                let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
                let renamed = match (properties, self.names) {
                    (Some(properties), Some(rule)) => stand_ins(properties, rule),
                    _ => Vec::new(),
                };
                let shown =
                    |name: &str| renamed.iter().find(|(own, _)| own == name).map(|(_, shown)| shown.as_str());
                let own =
                    |name: &str| renamed.iter().find(|(_, shown)| shown == name).map(|(own, _)| own.as_str());
                let has = |name: &Value| {
                    name.as_str().is_some_and(|name| entries.contains_key(shown(name).unwrap_or(name)))
                };
                let declared = |name: &str| properties.and_then(|all| all.get(own(name).unwrap_or(name)));
                let is_open =
                    schema.get("additionalProperties").is_some_and(|more| *more != Value::Bool(false));
                { required }.all(has)
                    && entries.iter().all(|(name, value)| match declared(name) {
                        Some(own) => value.is_null() || self.fits(value, own, depth + 1),
                        None => is_open || properties.is_none(),
                    })
            }
            _ => true,
        }
    }
}
