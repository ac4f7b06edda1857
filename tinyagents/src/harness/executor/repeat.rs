//! Noticing a model that goes in circles.

use std::hash::{BuildHasher, Hash, Hasher};

use foldhash::HashMap;
use foldhash::quality::FixedState;
use serde_json::Value;

use super::outcome::{Failure, Outcome};
use crate::harness::event::Effects;
use crate::harness::message::{ContentBlock, ToolCall};

/// In how many turns each call was made with the same result, over the whole run: another call in between does not
/// start the count anew, another result does. Equal calls of one turn count once, since none of them could know what
/// the others would bring.
#[derive(Default)]
pub(super) struct Repeats(HashMap<u64, Seen>);

struct Seen {
    result: u64,
    turn: u32,
    times: u32,
}

impl Repeats {
    /// Counts a call and what it came to; gives how often the same came of it without another result in between.
    pub(super) fn count(&mut self, turn: u32, call: &ToolCall, outcome: &Outcome) -> u32 {
        let result = result(outcome);
        let seen = self.0.entry(key(call)).or_insert(Seen { result, turn: 0, times: 0 });
        if seen.result != result {
            *seen = Seen { result, turn, times: 1 };
        } else if seen.turn != turn || seen.times == 0 {
            (seen.turn, seen.times) = (turn, seen.times.saturating_add(1));
        }
        seen.times
    }
}

/// Stands for what a call came to. A refusal is one result whatever its words, which say when it was given; the words
/// for the model may hold an id of the very call, so of an error those for a person count.
fn result(outcome: &Outcome) -> u64 {
    let mut hasher = FixedState::default().build_hasher();
    match &outcome.failure {
        Some(Failure { kind, effects: Effects::None, .. }) => std::mem::discriminant(kind).hash(&mut hasher),
        Some(failure) => failure.error.hash(&mut hasher),
        None => {
            for block in &outcome.result.content {
                match block {
                    ContentBlock::Text { text } | ContentBlock::Reasoning { text } => text.hash(&mut hasher),
                    ContentBlock::Json { value } => hash(value, &mut hasher),
                    ContentBlock::Image { data, .. } => data.hash(&mut hasher),
                }
            }
        }
    }
    hasher.finish()
}

/// Stands for a call's name and arguments.
pub(super) fn key(call: &ToolCall) -> u64 {
    let mut hasher = FixedState::default().build_hasher();
    call.name.hash(&mut hasher);
    hash(&call.arguments, &mut hasher);
    hasher.finish()
}

/// Hashes a value; the order of an object's keys does not count.
fn hash(value: &Value, hasher: &mut impl Hasher) {
    match value {
        Value::Object(object) => {
            let entry = |(key, value): (&String, &Value)| {
                let mut hasher = FixedState::default().build_hasher();
                key.hash(&mut hasher);
                hash(value, &mut hasher);
                hasher.finish()
            };
            (b'{', object.iter().map(entry).fold(0, u64::wrapping_add)).hash(hasher);
        }
        Value::Array(items) => {
            (b'[', items.len()).hash(hasher);
            items.iter().for_each(|item| hash(item, hasher));
        }
        other => other.hash(hasher),
    }
}
