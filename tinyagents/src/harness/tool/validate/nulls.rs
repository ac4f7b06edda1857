//! `null` for a property that may be left out: another spelling of leaving it out.
//!
//! Guarantee: only a `null` that the schema refuses is taken out, at any depth; a value without such a `null` is not
//! copied.
//!
//! Not here: `null` for what is required, which stays a mistake.

use serde_json::Value;

use super::Validator;
use super::canonical::has_null;
use super::check::{Path, Report};
use super::rules::{Extra, Node, NodeId};

impl Validator {
    /// The arguments without the `null`s that stand for a property left out: those of declared properties that are
    /// not required and do not take `null`. Nothing if there are none, which is the usual case.
    pub(crate) fn without_nulls(&self, arguments: &Value) -> Option<Value> {
        if !has_null(arguments) {
            return None;
        }
        let mut copy = arguments.clone();
        self.take_nulls(self.root, &mut copy).then_some(copy)
    }

    /// Says whether there was one. A schema cannot lead it round in circles: those were refused, and each other step
    /// goes down in the value.
    fn take_nulls(&self, id: NodeId, value: &mut Value) -> bool {
        let rules = match self.nodes.get(id) {
            Some(Node::Alias(target)) => return self.take_nulls(*target, value),
            Some(Node::Rules(rules)) => rules,
            _ => return false,
        };
        let mut taken = rules.reference.is_some_and(|target| self.take_nulls(target, value));
        for alternatives in &rules.any_of {
            let fitting = alternatives.iter().find_map(|id| {
                let mut copy = value.clone();
                let taken = self.take_nulls(*id, &mut copy);
                self.check(*id, &copy, &Path::Root, &mut Report::new(None)).then_some((copy, taken))
            });
            if let Some((copy, true)) = fitting {
                (*value, taken) = (copy, true);
            }
        }
        match value {
            Value::Object(object) => {
                let before = object.len();
                object.retain(|name, value| {
                    let optional = value.is_null() && !rules.required.contains(name);
                    let refused = |id| !self.check(id, value, &Path::Root, &mut Report::new(None));
                    !(optional && rules.property(name).is_some_and(refused))
                });
                taken |= object.len() < before;
                for (name, value) in object {
                    let id = rules.property(name).or_else(|| rules.by_pattern(name));
                    let id = id.or(match rules.additional {
                        Extra::Schema(id) => Some(id),
                        _ => None,
                    });
                    taken |= id.is_some_and(|id| self.take_nulls(id, value));
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    let id = rules.prefix.get(index).copied().or(rules.items);
                    taken |= id.is_some_and(|id| self.take_nulls(id, item));
                }
            }
            _ => {}
        }
        taken
    }
}
