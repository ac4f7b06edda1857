//! One write-once slot for each call of a reply.

use super::outcome::Outcome;
use crate::harness::event::FailureKind;
use crate::harness::message::{AssistantMessage, ClosedTurn, HistoryError, ToolCall, ToolMessage};
use crate::harness::source::IdSource;
use crate::harness::tool::ToolResult;

/// Gives every call that came without an id one of its place, the same for the same place. The history tells doubled
/// ids apart.
pub(crate) fn fill_ids(reply: &mut AssistantMessage, turn: u32, ids: &dyn IdSource) {
    for (index, call) in reply.tool_calls.iter_mut().enumerate() {
        if call.id.as_str().is_empty() {
            call.id = ids.call_id(turn, u32::try_from(index).unwrap_or(u32::MAX));
        }
    }
}

/// The calls of one reply and their results. A slot is written once; closing fills what is empty.
pub(super) struct TurnLedger {
    reply: AssistantMessage,
    slots: Vec<Option<ToolMessage>>,
}

impl TurnLedger {
    pub(super) fn open(reply: AssistantMessage) -> Self {
        let slots = reply.tool_calls.iter().map(|_| None).collect();
        Self { reply, slots }
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn call(&self, index: usize) -> Option<&ToolCall> {
        self.reply.tool_calls.get(index)
    }

    /// Takes a call's result. The first one stays; the id is the call's, whatever the tool wrote.
    pub(super) fn settle(&mut self, index: usize, result: ToolResult) {
        let Some(call) = self.reply.tool_calls.get(index) else { return };
        if let Some(slot @ None) = self.slots.get_mut(index) {
            *slot = Some(message(call, result));
        }
    }

    /// Closes the turn with a result for every call.
    pub(super) fn close(self) -> Result<ClosedTurn, HistoryError> {
        let Self { reply, slots } = self;
        let results = slots.into_iter().zip(&reply.tool_calls).map(|(slot, call)| {
            slot.unwrap_or_else(|| {
                let why = "not executed: the turn was closed before this call started";
                message(call, Outcome::refused(call, FailureKind::Skipped, why.into()).result)
            })
        });
        let results = results.collect();
        ClosedTurn::new(reply, results)
    }
}

fn message(call: &ToolCall, result: ToolResult) -> ToolMessage {
    ToolMessage {
        tool_call_id: call.id.clone(),
        name: result.name,
        content: result.content,
        is_error: result.is_error,
        value: result.value,
        artifacts: result.artifacts,
    }
}
