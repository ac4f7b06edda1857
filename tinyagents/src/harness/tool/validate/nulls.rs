//! `null` for a property that may be left out: another spelling of leaving it out.
//!
//! Guarantee: only a `null` that the schema refuses is taken out, at any depth; a value without such a `null` is not
//! copied; steps and stack are bounded, and arguments that ask for more are left as they are, for the check to refuse.
//!
//! Not here: `null` for what is required, which stays a mistake.

use serde_json::Value;

use super::Validator;
use super::canonical::has_null;
use super::check::{MAX_LEVELS, MAX_STEPS};
use super::number::size;
use super::rules::{Node, NodeId, Rules};

impl Validator {
    /// The arguments without the `null`s that stand for a property left out: those of declared properties that are
    /// not required and do not take `null`. Nothing if there are none, which is the usual case.
    pub(crate) fn without_nulls(&self, arguments: &Value) -> Option<Value> {
        if !has_null(arguments) {
            return None;
        }
        let (mut copy, mut left) = (arguments.clone(), Left { steps: MAX_STEPS, levels: MAX_LEVELS });
        let taken = self.take_nulls(self.root, &mut copy, &mut left);
        (taken && left.steps > 0).then_some(copy)
    }

    /// Says whether there was one.
    fn take_nulls(&self, id: NodeId, value: &mut Value, left: &mut Left) -> bool {
        if left.levels == 0 || !left.take(1) {
            left.steps = 0;
            return false;
        }
        left.levels -= 1;
        let taken = match self.nodes.get(id) {
            Some(Node::Alias(target)) => self.take_nulls(*target, value, left),
            Some(Node::Rules(rules)) => self.take_nulls_by(rules, value, left),
            _ => false,
        };
        left.levels += 1;
        taken
    }

    fn take_nulls_by(&self, rules: &Rules, value: &mut Value, left: &mut Left) -> bool {
        let mut taken = rules.reference.is_some_and(|target| self.take_nulls(target, value, left));
        for alternatives in &rules.any_of {
            let fitting = alternatives.iter().find_map(|id| {
                if !left.take(size(value)) {
                    return None;
                }
                let mut copy = value.clone();
                let taken = self.take_nulls(*id, &mut copy, left);
                self.shape().at(*id).accepts(&copy, &mut left.steps).then_some((copy, taken))
            });
            if let Some((copy, true)) = fitting {
                (*value, taken) = (copy, true);
            }
        }
        match value {
            Value::Object(object) => {
                let (before, mut next) = (object.len(), 0);
                object.retain(|name, value| {
                    let declared = rules.find(name, &mut next).filter(|_| value.is_null());
                    declared.is_none_or(|property| {
                        property.required || self.shape().at(property.node).accepts(value, &mut left.steps)
                    })
                });
                taken |= object.len() < before;
                for (name, value) in object {
                    taken |= rules.field(name).is_some_and(|id| self.take_nulls(id, value, left));
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    taken |= rules.item(index).is_some_and(|id| self.take_nulls(id, item, left));
                }
            }
            _ => {}
        }
        taken
    }
}

/// What is left of the bounds.
struct Left {
    steps: u32,
    levels: u32,
}

impl Left {
    /// Whether there are that many steps, which are taken.
    fn take(&mut self, steps: usize) -> bool {
        self.steps = self.steps.saturating_sub(u32::try_from(steps).unwrap_or(u32::MAX));
        self.steps > 0
    }
}
