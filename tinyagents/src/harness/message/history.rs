//! A transcript that cannot hold an orphaned call.

use std::sync::Arc;

use foldhash::{HashSet, HashSetExt};

use super::check::HistoryProblem;
use super::ids::CallIds;
use super::repair::{Repaired, repair};
use super::rules::ProviderRules;
use super::{AssistantMessage, Message, ToolMessage};
use crate::harness::id::ToolCallId;

/// Why messages cannot stand in a history.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// A call has no result right after the reply that made it.
    #[error(
        "message {index}: tool call `{id}` has no result right after it; add its result, remove the call, or let \
         `History::repair` answer it"
    )]
    Unanswered {
        /// The position of the reply that made the call.
        index: usize,
        /// The call.
        id: ToolCallId,
    },
    /// A result answers no call of the reply before it, or one that is answered already.
    #[error(
        "message {index}: the result for `{id}` answers no open tool call; remove it, or let `History::repair` do so"
    )]
    Unasked {
        /// The position of the result.
        index: usize,
        /// The call that the result names.
        id: ToolCallId,
    },
    /// Two calls of one reply have the same id, so their results cannot be told apart.
    #[error(
        "message {index}: two tool calls have the id `{id}`; make the ids unique, or let `History::repair` do so"
    )]
    DoubledId {
        /// The position of the reply.
        index: usize,
        /// The doubled id.
        id: ToolCallId,
    },
}

/// A reply with calls, and exactly one result for each of them in call order.
#[derive(Debug, Clone, PartialEq)]
pub struct ClosedTurn {
    assistant: AssistantMessage,
    results: Vec<ToolMessage>,
}

impl ClosedTurn {
    /// Pairs a reply with its results.
    ///
    /// # Errors
    ///
    /// Refuses anything but one result for each call, in call order, with the same ids.
    pub fn new(assistant: AssistantMessage, results: Vec<ToolMessage>) -> Result<Self, HistoryError> {
        let mut ids = HashSet::with_capacity(assistant.tool_calls.len());
        for call in &assistant.tool_calls {
            if !ids.insert(&call.id) {
                return Err(HistoryError::DoubledId { index: 0, id: call.id.clone() });
            }
        }
        for (index, call) in assistant.tool_calls.iter().enumerate() {
            if results.get(index).is_none_or(|result| result.tool_call_id != call.id) {
                return Err(HistoryError::Unanswered { index: 0, id: call.id.clone() });
            }
        }
        if let Some(extra) = results.get(assistant.tool_calls.len()) {
            let index = 1 + assistant.tool_calls.len();
            return Err(HistoryError::Unasked { index, id: extra.tool_call_id.clone() });
        }
        Ok(Self { assistant, results })
    }

    /// The reply.
    pub fn assistant(&self) -> &AssistantMessage {
        &self.assistant
    }

    /// The results, in call order.
    pub fn results(&self) -> &[ToolMessage] {
        &self.results
    }
}

/// The transcript of a conversation, shared with whoever reads it and never copied to be read.
#[derive(Debug, Clone, Default)]
pub struct History {
    messages: Arc<Vec<Message>>,
    /// The ids that calls have, so that a later call does not get one of them again.
    ids: CallIds,
}

impl History {
    /// An empty history.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes over an existing conversation.
    ///
    /// # Errors
    ///
    /// Refuses a call without its result right after it, a result without its call, and a second result: every
    /// provider does. [`repair`](Self::repair) takes a conversation that is not whole.
    pub fn from_messages(messages: Vec<Message>) -> Result<Self, HistoryError> {
        let mut open: Vec<&ToolCallId> = Vec::new();
        let mut asked_at = 0;
        for (index, message) in messages.iter().enumerate() {
            if let Message::Tool(result) = message {
                match open.iter().position(|id| **id == result.tool_call_id) {
                    Some(at) => drop(open.remove(at)),
                    None => return Err(HistoryError::Unasked { index, id: result.tool_call_id.clone() }),
                }
                continue;
            }
            if let Some(id) = open.first() {
                return Err(HistoryError::Unanswered { index: asked_at, id: (*id).clone() });
            }
            if let Message::Assistant(reply) = message {
                asked_at = index;
                for call in &reply.tool_calls {
                    if open.contains(&&call.id) {
                        return Err(HistoryError::DoubledId { index, id: call.id.clone() });
                    }
                    open.push(&call.id);
                }
            }
        }
        if let Some(id) = open.first() {
            return Err(HistoryError::Unanswered { index: asked_at, id: (*id).clone() });
        }
        Ok(Self::whole(messages))
    }

    /// Takes over a conversation that may not be whole: one that was cut off, merged, or written by other software.
    ///
    /// - A call without a result gets an error result that says so.
    /// - A result belongs to the nearest call before it that has its id, in either of the two spellings that some
    ///   providers have (`id`, `call_id` or `item_id` in [`ToolCall::provider`](super::ToolCall::provider)). It is
    ///   moved right behind its call, in call order, and gets the call's id. A result without an id belongs to a call
    ///   of the reply right before it, by name, else by order.
    /// - A result without a call is dropped, and so is a second result for one call.
    /// - An empty result reads `(no output)`.
    /// - An id that is empty, or stands for an earlier call too, is made unique.
    ///
    /// Nothing is random: the same messages give the same history, and repairing a repaired history changes nothing.
    pub fn repair(messages: Vec<Message>) -> Repaired {
        repair(messages)
    }

    /// Says whether a provider accepts the transcript.
    ///
    /// # Errors
    ///
    /// Lists everything that breaks a rule, in the order of the messages.
    pub fn check(&self, rules: &ProviderRules) -> Result<(), Vec<HistoryProblem>> {
        rules.check(&self.messages)
    }

    /// A history of messages whose calls are known to be answered.
    pub(super) fn whole(messages: Vec<Message>) -> Self {
        let mut ids = CallIds::default();
        let calls = messages.iter().filter_map(Message::as_assistant).flat_map(|reply| &reply.tool_calls);
        calls.for_each(|call| ids.note(&call.id));
        Self { messages: Arc::new(messages), ids }
    }

    /// Adds what a person said.
    pub fn push_user(&mut self, text: impl Into<String>) {
        self.push(Message::user(text));
    }

    /// Adds a reply without calls.
    ///
    /// # Errors
    ///
    /// Refuses a reply with calls: it belongs into [`close`](Self::close), with its results.
    pub fn push_reply(&mut self, reply: AssistantMessage) -> Result<(), HistoryError> {
        if let Some(call) = reply.tool_calls.first() {
            return Err(HistoryError::Unanswered { index: self.messages.len(), id: call.id.clone() });
        }
        self.push(Message::Assistant(reply));
        Ok(())
    }

    /// Adds a reply with calls, and their results.
    pub fn close(&mut self, turn: ClosedTurn) {
        turn.assistant.tool_calls.iter().for_each(|call| self.ids.note(&call.id));
        let messages = Arc::make_mut(&mut self.messages);
        messages.push(Message::Assistant(turn.assistant));
        messages.extend(turn.results.into_iter().map(Message::Tool));
    }

    /// Gives every call of a reply that is about to run an id that no call before it has.
    pub(crate) fn tell_apart(&mut self, reply: &mut AssistantMessage) {
        for call in &mut reply.tool_calls {
            call.id = self.ids.take(&call.id);
        }
    }

    /// The transcript so far.
    pub fn messages(&self) -> &Arc<Vec<Message>> {
        &self.messages
    }

    /// The transcript, copied only if somebody else reads it.
    pub fn into_messages(self) -> Vec<Message> {
        Arc::unwrap_or_clone(self.messages)
    }

    pub(crate) fn push(&mut self, message: Message) {
        Arc::make_mut(&mut self.messages).push(message);
    }
}
