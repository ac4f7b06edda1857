//! A compiled schema: a table of nodes, each with its rules.

use std::collections::{HashMap, HashSet};
use std::fmt;

use regex_lite::Regex;
use serde_json::{Map, Number, Value};

use super::format::Format;
use super::number::{Width, is_integral};

pub(super) type NodeId = usize;

#[derive(Debug)]
pub(super) enum Node {
    Any,
    Never,
    Alias(NodeId),
    Rules(Box<Rules>),
}

#[derive(Debug, Default)]
pub(super) struct Rules {
    pub(super) types: Option<Types>,
    pub(super) one_of_values: Option<Vec<Value>>,
    pub(super) reference: Option<NodeId>,
    pub(super) any_of: Vec<Vec<NodeId>>,
    pub(super) not: Option<NodeId>,
    pub(super) patterns: Vec<(Regex, NodeId)>,
    pub(super) properties: Vec<Declared>,
    pub(super) required: Vec<String>,
    /// The index of each property, if there are many.
    pub(super) by_name: HashMap<String, usize>,
    /// How many of `required` are declared in `properties`.
    pub(super) required_declared: usize,
    /// Those that are not.
    pub(super) required_others: Vec<String>,
    pub(super) additional: Extra,
    pub(super) prefix: Vec<NodeId>,
    pub(super) items: Option<NodeId>,
    pub(super) bounds: AllBounds,
    /// What the parameter's type holds, where the schema has no word for it.
    pub(super) width: Option<Width>,
    pub(super) pattern: Option<Regex>,
    pub(super) format: Option<Format>,
}

/// A property of `properties`.
#[derive(Debug)]
pub(super) struct Declared {
    pub(super) name: String,
    pub(super) node: NodeId,
    pub(super) required: bool,
}

impl Rules {
    pub(super) fn property(&self, name: &str) -> Option<NodeId> {
        self.find(name, &mut 0).map(|property| property.node)
    }

    /// Whether it is a reference with nothing beside it that is enforced.
    pub(super) fn only_refers(&self) -> bool {
        self.types.is_none()
            && self.one_of_values.is_none()
            && self.any_of.is_empty()
            && self.properties.is_empty()
            && self.items.is_none()
            && self.prefix.is_empty()
    }

    /// What the value of a field is checked by, declared by its name or not.
    pub(super) fn field(&self, name: &str) -> Option<NodeId> {
        let declared = self.property(name).or_else(|| self.by_pattern(name));
        declared.or(match self.additional {
            Extra::Schema(id) => Some(id),
            _ => None,
        })
    }

    /// What an item of a list is checked by.
    pub(super) fn item(&self, index: usize) -> Option<NodeId> {
        self.prefix.get(index).copied().or(self.items)
    }

    /// The first pattern that takes the name: a generated schema has one.
    pub(super) fn by_pattern(&self, name: &str) -> Option<NodeId> {
        self.patterns.iter().find(|(pattern, _)| pattern.is_match(name)).map(|(_, id)| *id)
    }

    /// The property of that name. A scan beats hashing, since tools have few properties, and models write them in the
    /// order of the schema: `next` is where the last search ended.
    #[inline]
    pub(super) fn find(&self, name: &str, next: &mut usize) -> Option<&Declared> {
        let found = match self.properties.get(*next) {
            Some(property) if property.name == name => *next,
            _ if self.properties.len() > MANY => *self.by_name.get(name)?,
            _ => self.properties.iter().position(|property| property.name == name)?,
        };
        *next = found + 1;
        self.properties.get(found)
    }

    /// Whether an object has all that is required. Counts first, which is quick for what a model writes.
    #[inline]
    pub(super) fn has_required(&self, object: &Map<String, Value>) -> bool {
        let mut next = 0;
        let declared =
            object.keys().filter(|name| self.find(name, &mut next).is_some_and(|found| found.required));
        (self.required_declared == 0 || declared.count() == self.required_declared)
            && self.required_others.iter().all(|name| object.contains_key(name))
    }

    /// Declares properties, and which of them are required.
    pub(super) fn declare(&mut self, properties: Vec<(String, NodeId)>, required: Vec<String>) {
        let names: HashSet<&str> = required.iter().map(String::as_str).collect();
        self.properties = properties
            .into_iter()
            .map(|(name, node)| Declared { required: names.contains(name.as_str()), name, node })
            .collect();
        if self.properties.len() > MANY {
            let names = self.properties.iter().enumerate();
            self.by_name = names.map(|(index, property)| (property.name.clone(), index)).collect();
        }
        self.required_declared = self.properties.iter().filter(|property| property.required).count();
        self.required_others =
            required.iter().filter(|name| self.property(name).is_none()).cloned().collect();
        self.required = required;
    }
}

/// More properties than this are looked up by hash.
pub(super) const MANY: usize = 32;

/// What happens to properties that are not declared.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(super) enum Extra {
    #[default]
    Open,
    Closed,
    /// The schema declares fields and says nothing about others: open by JSON Schema, and closed by `ExtraArgs::Deny`.
    Silent,
    Schema(NodeId),
}

#[derive(Debug, Default)]
pub(super) struct AllBounds {
    pub(super) number: Bounds<Number>,
    pub(super) open_number: Bounds<Number>,
    pub(super) length: Bounds<usize>,
    pub(super) items: Bounds<usize>,
    pub(super) properties: Bounds<usize>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds<T> {
    pub(super) min: Option<T>,
    pub(super) max: Option<T>,
}

impl<T> Default for Bounds<T> {
    fn default() -> Self {
        Self { min: None, max: None }
    }
}

impl<T> Bounds<T> {
    pub(super) fn is_empty(&self) -> bool {
        self.min.is_none() && self.max.is_none()
    }
}

impl<T: fmt::Display + PartialEq> fmt::Display for Bounds<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.min, &self.max) {
            (Some(min), Some(max)) if min == max => write!(f, "exactly {min}"),
            (Some(min), Some(max)) => write!(f, "between {min} and {max}"),
            (Some(min), None) => write!(f, "at least {min}"),
            (None, Some(max)) => write!(f, "at most {max}"),
            (None, None) => Ok(()),
        }
    }
}

pub(super) const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

/// A set of type names, one bit each in the order of [`TYPES`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Types(pub(super) u8);

impl Types {
    pub(super) fn of(name: &str) -> Option<u8> {
        TYPES.iter().position(|known| *known == name).map(|bit| 1 << bit)
    }

    /// The type's name, if there is one.
    pub(super) fn only(self) -> Option<&'static str> {
        (self.0.count_ones() == 1).then(|| TYPES.get(self.0.trailing_zeros() as usize).copied())?
    }

    #[inline]
    pub(super) fn accepts(self, value: &Value) -> bool {
        let bits: u8 = match value {
            Value::Null => 1,
            Value::Bool(_) => 1 << 1,
            Value::Number(number) if is_integral(number) => 1 << 2 | 1 << 3,
            Value::Number(_) => 1 << 3,
            Value::String(_) => 1 << 4,
            Value::Array(_) => 1 << 5,
            Value::Object(_) => 1 << 6,
        };
        self.0 & bits != 0
    }
}

impl fmt::Display for Types {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        for (bit, name) in TYPES.iter().enumerate() {
            if self.0 & (1 << bit) != 0 {
                f.write_str(if first { name } else { " or " })?;
                if !first {
                    f.write_str(name)?;
                }
                first = false;
            }
        }
        Ok(())
    }
}
