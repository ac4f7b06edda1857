//! Arguments brought into the form that their schema asks for.
//!
//! Guarantee: each step is exact, applies only where the schema asks for it and to what broke it, and is reported. A
//! value that is valid comes back as it was. Nothing is dropped unless the caller asks for it, a text that was cut off
//! is not closed, and of two readings none is taken.
//!
//! Not here: text that is no JSON (`message`), and what is said to the model (`executor`).

mod text;

pub(crate) use text::folded;

use serde_json::{Map, Value};

use super::validate::canonical::escaped;
use super::validate::{Path, Shape, Validator};
use crate::harness::event::RepairRule;
use crate::harness::message::parse_arguments;

/// How far a value may be changed. That `null` stands for a parameter left out holds always.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Mending {
    /// Whether to repair.
    pub(crate) repair: bool,
    /// Whether to leave out fields that no parameter has.
    pub(crate) drop_extra: bool,
}

/// A value after mending, valid or not.
pub(crate) struct Mended {
    pub(crate) value: Value,
    /// What was done, and where, as a JSON Pointer into the value as it was.
    pub(crate) steps: Vec<(String, RepairRule)>,
}

/// How many places are looked at, checks included. Alternatives within alternatives could otherwise take for ever.
const MOST_STEPS: u32 = 1_000_000;

/// Mends a value that broke its schema.
pub(crate) fn mend(validator: &Validator, value: &Value, mending: Mending) -> Mended {
    let mut mender = Mender { mending, path: String::new(), steps: Vec::new(), left: MOST_STEPS };
    let mut value = value.clone();
    if mending.repair && value.as_str().is_some_and(|text| text.trim().is_empty()) {
        value = Value::Object(Map::new());
        mender.note(RepairRule::NoArguments);
    }
    mender.mend(validator.shape(), &mut value);
    Mended { value, steps: mender.steps }
}

/// Where a value has texts that look like `null` in place of optional texts, as JSON Pointers. They may be meant as they
/// are, so no repair takes them out.
pub(crate) fn null_texts(validator: &Validator, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    validator.shape().each_field(value, &Path::Root, &mut |object, name, value, at| {
        let is_text = |field: Shape<'_>| field.names_type_of(value);
        let is_optional = || object.property(name).is_some_and(is_text) && !object.requires(name);
        if text::is_like_null(value) && is_optional() {
            found.push(at.to_string());
        }
    });
    found
}

struct Mender {
    mending: Mending,
    path: String,
    steps: Vec<(String, RepairRule)>,
    left: u32,
}

impl Mender {
    fn note(&mut self, rule: RepairRule) {
        self.steps.push((self.path.clone(), rule));
    }

    /// Does something one level deeper.
    fn within<T>(&mut self, key: &str, work: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        self.path.push('/');
        self.path.push_str(&escaped(key));
        let done = work(self);
        self.path.truncate(length);
        done
    }

    fn mend(&mut self, shape: Shape<'_>, value: &mut Value) {
        if self.left == 0 {
            return;
        }
        self.left -= 1;
        if self.mending.repair {
            self.retype(shape, value);
        }
        match value {
            Value::Object(object) => self.mend_object(shape, object),
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    if let Some(shape) = shape.item(index) {
                        self.within(&index.to_string(), |mender| mender.mend(shape, item));
                    }
                }
            }
            _ => {}
        }
        if !shape.accepts(value, &mut self.left) {
            self.mend_by_alternative(shape, value);
        }
    }

    /// Gives a value the type or the spelling that the schema names.
    fn retype(&mut self, shape: Shape<'_>, value: &mut Value) {
        let better = match &*value {
            Value::String(text) if shape.bars_type_of(value) => text::read(shape, text),
            Value::String(text) => {
                text::allowed(shape, text).map(|text| (Value::from(text), RepairRule::EnumValue))
            }
            _ => None,
        };
        if let Some((better, rule)) = better {
            *value = better;
            self.note(rule);
        } else if let Some(list) = self.listed(shape, value) {
            *value = list;
            self.note(RepairRule::SingleItem);
        }
    }

    /// A single value as a list, where a list is wanted and the value can be its item.
    fn listed(&mut self, shape: Shape<'_>, value: &Value) -> Option<Value> {
        let wanted = shape.names_type_of(&Value::Array(Vec::new())) && shape.bars_type_of(value);
        // A blank or broken text is no item that anybody meant.
        let broken = match value {
            Value::Null => true,
            Value::String(text) => matches!(text.trim_start().chars().next(), None | Some('[' | '{' | '"')),
            _ => false,
        };
        if !wanted || broken {
            return None;
        }
        let mut item = value.clone();
        if let Some(shape) = shape.item(0) {
            let before = self.steps.len();
            self.mend(shape, &mut item);
            self.steps.truncate(before); // the item is mended again as part of the list
            if !shape.accepts(&item, &mut self.left) {
                return None;
            }
        }
        Some(vec![value.clone()].into())
    }

    fn mend_object(&mut self, shape: Shape<'_>, object: &mut Map<String, Value>) {
        if shape.refuses_extra() && object.keys().any(|key| shape.field(key).is_none()) {
            self.name_fields(shape, object);
        }
        let mut gone = Vec::new();
        for (name, value) in object.iter_mut() {
            let Some(field) = shape.field(name) else { continue };
            if shape.property(name).is_some() && !shape.requires(name) {
                if value.is_null() && !field.accepts(value, &mut self.left) {
                    gone.push(name.clone());
                    continue;
                }
                if self.mending.repair && text::is_like_null(value) && field.bars_type_of(value) {
                    gone.push(name.clone());
                    self.within(name, |mender| mender.note(RepairRule::NullText));
                    continue;
                }
            }
            self.within(name, |mender| mender.mend(field, value));
        }
        if !gone.is_empty() {
            object.retain(|name, _| !gone.contains(name));
        }
    }

    /// Gives fields that no parameter has the one name that they can mean, or leaves them out.
    fn name_fields(&mut self, shape: Shape<'_>, object: &mut Map<String, Value>) {
        let unknown: Vec<String> = object.keys().filter(|key| shape.field(key).is_none()).cloned().collect();
        let mut renamed = Vec::new();
        if self.mending.repair {
            // Each name is folded once: a model may send many, and long ones.
            let names: Vec<_> = shape.names().map(|name| (name, folded(name))).collect();
            let folds: Vec<_> = unknown.iter().map(|key| folded(key)).collect();
            for (key, fold) in unknown.iter().zip(&folds) {
                let mut same = names.iter().filter(|(_, other)| other == fold);
                if let (Some((name, _)), None) = (same.next(), same.next()) {
                    let rivals = folds.iter().filter(|other| *other == fold).count();
                    if rivals == 1 && !fold.is_empty() && !object.contains_key(*name) {
                        renamed.push((key.clone(), (*name).to_owned()));
                    }
                }
            }
        }
        let mut named = Map::new();
        for (key, value) in std::mem::take(object) {
            if let Some((_, name)) = renamed.iter().find(|(from, _)| *from == key) {
                self.within(&key, |mender| mender.note(RepairRule::FieldName));
                named.insert(name.clone(), value);
            } else if self.mending.drop_extra && unknown.contains(&key) {
                self.within(&key, |mender| mender.note(RepairRule::Dropped));
            } else {
                named.insert(key, value);
            }
        }
        *object = named;
    }

    /// Mends a value by the one alternative that it can be mended by.
    fn mend_by_alternative(&mut self, shape: Shape<'_>, value: &mut Value) {
        let before = self.steps.len();
        let mut found: Option<(Value, Vec<_>)> = None;
        for alternative in shape.alternatives() {
            let mut trial = value.clone();
            self.mend(alternative, &mut trial);
            let steps = self.steps.split_off(before);
            if !shape.accepts(&trial, &mut self.left) {
                continue;
            }
            match &found {
                None => found = Some((trial, steps)),
                Some((same, _)) if *same == trial => {}
                Some(_) => return,
            }
        }
        // With no steps left, an alternative may not have been tried.
        if let Some((mended, steps)) = found.filter(|_| self.left > 0) {
            *value = mended;
            self.steps.extend(steps);
        }
    }
}

/// An object or an array in a text, as the schema wants one of them.
fn unwrapped(shape: Shape<'_>, text: &str) -> Option<Value> {
    let wanted = match text.chars().next() {
        Some('{') => shape.names_type_of(&Value::Object(Map::new())),
        Some('[') => shape.names_type_of(&Value::Array(Vec::new())),
        _ => false,
    };
    let inner = wanted.then(|| parse_arguments(text).ok()).flatten()?;
    Some(inner.to_value())
}
