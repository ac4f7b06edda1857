//! A transcript that others wrote, made whole.
//!
//! Guarantee: the history passes every provider's check of calls and results, what was done to it is listed, and
//! repairing it again changes nothing.
//!
//! Not here: the spelling of ids, names and arguments on the wire (`provider`), and what the first message is.

use std::collections::HashSet;

use super::ids::CallIds;
use super::pairing::Pairing;
use super::{ContentBlock, History, Message, NO_OUTPUT, ToolCall, ToolMessage, is_blank};
use crate::harness::id::{ToolCallId, ToolName};

/// What a model reads in place of a result that is missing.
const INTERRUPTED: &str =
    "error: interrupted: this call has no result; whether it ran, and what it had done by then, is unknown";

/// A history that was made whole, and what was done to it.
#[derive(Debug, Clone)]
#[must_use]
pub struct Repaired {
    /// The history.
    pub history: History,
    /// Every repair, in the order of the messages. Empty if nothing was changed.
    pub repairs: Vec<Repair>,
}

/// One thing that was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repair {
    /// The position of the message, among the messages that were handed in.
    pub index: usize,
    /// The id of the call, as it is now; of a dropped result, as it was.
    pub call: ToolCallId,
    /// What was done.
    pub kind: RepairKind,
}

impl std::fmt::Display for Repair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "message {}: tool call `{}`: {}", self.index, self.call, self.kind)
    }
}

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RepairKind {
    /// The call had no result: an error result was added that says that the outcome is unknown.
    Answered,
    /// The result answered no call, and was dropped.
    DroppedOrphan,
    /// The result answered a call that has one already, and was dropped.
    DroppedSecond,
    /// The result was moved right behind its reply, into call order.
    Moved,
    /// The result was empty, and reads `(no output)` now.
    Filled,
    /// The call, or its result, had this id before.
    Renamed {
        /// The former id.
        from: ToolCallId,
    },
}

impl std::fmt::Display for RepairKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Answered => f.write_str("it had no result, and is answered as interrupted"),
            Self::DroppedOrphan => f.write_str("a result without its call was dropped"),
            Self::DroppedSecond => f.write_str("a second result was dropped"),
            Self::Moved => f.write_str("its result was moved right behind it"),
            Self::Filled => f.write_str("its empty result was filled"),
            Self::Renamed { from } => write!(f, "its id was `{from}`"),
        }
    }
}

pub(super) fn repair(messages: Vec<Message>) -> Repaired {
    let Pairing { answers, moved, dropped: mut repairs } = Pairing::of(&messages);
    let mut ids = Ids::of(&messages);
    let mut answers = answers.into_iter();
    let mut rest: Vec<Option<Message>> = messages.into_iter().map(Some).collect();
    let mut whole = Vec::with_capacity(rest.len());
    let mut turn = 0;
    for index in 0..rest.len() {
        let mut reply = match rest.get_mut(index).and_then(Option::take) {
            Some(Message::Assistant(reply)) => reply,
            // A result stands behind its call already, or is dropped.
            None | Some(Message::Tool(_)) => continue,
            Some(other) => {
                whole.push(other);
                continue;
            }
        };
        turn += 1;
        let mut turn_results = Vec::with_capacity(reply.tool_calls.len());
        for (place, call) in reply.tool_calls.iter_mut().enumerate() {
            let id = ids.take(call, turn, place);
            let mut note = |index, kind| repairs.push(Repair { index, call: id.clone(), kind });
            if call.id != id {
                note(index, RepairKind::Renamed { from: std::mem::replace(&mut call.id, id.clone()) });
            }
            let at = answers.next().flatten();
            let found = at.and_then(|at| Some((at, rest.get_mut(at)?.take()?)));
            let Some((at, Message::Tool(mut result))) = found else {
                note(index, RepairKind::Answered);
                turn_results.push(Message::Tool(interrupted(call)));
                continue;
            };
            if moved.contains(&at) {
                note(at, RepairKind::Moved);
            }
            if result.tool_call_id != id {
                let from = std::mem::replace(&mut result.tool_call_id, id.clone());
                note(at, RepairKind::Renamed { from });
            }
            if is_blank(&result.content) {
                note(at, RepairKind::Filled);
                result.content = vec![ContentBlock::text(NO_OUTPUT)];
            }
            turn_results.push(Message::Tool(result));
        }
        whole.push(Message::Assistant(reply));
        whole.extend(turn_results);
    }
    repairs.sort_by_key(|repair| repair.index);
    Repaired { history: History::whole(whole), repairs }
}

fn interrupted(call: &ToolCall) -> ToolMessage {
    ToolMessage {
        tool_call_id: call.id.clone(),
        name: ToolName::unchecked(&call.name),
        content: vec![ContentBlock::text(INTERRUPTED)],
        is_error: true,
        value: None,
        artifacts: Vec::new(),
    }
}

/// The ids that calls get.
struct Ids {
    /// Every id that some call has, so that none of them is taken away from it.
    all: CallIds,
    kept: HashSet<ToolCallId>,
}

impl Ids {
    fn of(messages: &[Message]) -> Self {
        let mut all = CallIds::default();
        calls(messages).filter(|call| !call.id.as_str().is_empty()).for_each(|call| all.note(&call.id));
        Self { all, kept: HashSet::new() }
    }

    /// The id of the next call: its own if it is the first with it, else one that no call has.
    fn take(&mut self, call: &ToolCall, turn: usize, place: usize) -> ToolCallId {
        if call.id.as_str().is_empty() {
            let other = other_ids(call).next().map(ToolCallId::from);
            return self.all.take(&other.unwrap_or_else(|| format!("call_{turn}_{place}").into()));
        }
        if self.kept.insert(call.id.clone()) { call.id.clone() } else { self.all.take(&call.id) }
    }
}

pub(super) fn calls(messages: &[Message]) -> impl Iterator<Item = &ToolCall> {
    messages.iter().filter_map(Message::as_assistant).flat_map(|reply| &reply.tool_calls)
}

/// The other spellings of a call's id: some providers give the item of a call an id beside the call's own.
pub(super) fn other_ids(call: &ToolCall) -> impl Iterator<Item = &str> {
    let data = call.provider.as_ref().map(|provider| &provider.data);
    let ids = ["call_id", "id", "item_id"].into_iter().filter_map(move |key| data?.get(key)?.as_str());
    ids.filter(|id| !id.is_empty())
}
