//! The ids of calls, told apart.
//!
//! Guarantee: an id stands for one call of a history, and the same calls in the same order always get the same ids.

use std::collections::hash_map::Entry;

use foldhash::HashMap;

use crate::harness::id::ToolCallId;

/// The ids that are taken. Each has the number of its last copy, so that finding the next one takes no search.
#[derive(Debug, Clone, Default)]
pub(super) struct CallIds(HashMap<ToolCallId, u32>);

impl CallIds {
    /// Notes that an id is in use.
    pub(super) fn note(&mut self, id: &ToolCallId) {
        if !self.0.contains_key(id) {
            self.0.insert(id.clone(), 1);
        }
    }

    /// Takes an id, or the next free copy of it (`x_d2`) if it is in use.
    pub(super) fn take(&mut self, wanted: &ToolCallId) -> ToolCallId {
        let mut copy = match self.0.entry(wanted.clone()) {
            Entry::Vacant(free) => {
                free.insert(1);
                return wanted.clone();
            }
            Entry::Occupied(taken) => *taken.get(),
        };
        let id = loop {
            copy = copy.saturating_add(1);
            let id = ToolCallId::from(format!("{wanted}_d{copy}"));
            if !self.0.contains_key(&id) {
                break id;
            }
        };
        self.0.insert(wanted.clone(), copy);
        self.0.insert(id.clone(), 1);
        id
    }
}
