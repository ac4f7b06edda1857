//! Whether a transcript fits what a provider accepts.

use std::collections::{HashSet, VecDeque};

use super::{AssistantMessage, Message, ProviderRules, ToolMessage, is_blank};
use crate::harness::id::ToolCallId;

/// A place where a transcript breaks a provider's rule.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HistoryProblem {
    /// The position of the message.
    pub index: usize,
    /// The call that it is about, if it is about one.
    pub call: Option<ToolCallId>,
    /// The rule.
    pub kind: ProblemKind,
}

impl std::fmt::Display for HistoryProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.call {
            Some(call) => write!(f, "message {}: tool call `{call}`: {}", self.index, self.kind),
            None => write!(f, "message {}: {}", self.index, self.kind),
        }
    }
}

impl std::error::Error for HistoryProblem {}

/// The rule that a transcript breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemKind {
    /// A call has no result right behind its reply.
    #[error("it has no result right after it")]
    Unanswered,
    /// A result answers no call of the reply before it, or one that is answered already.
    #[error("a result answers no open call")]
    Unasked,
    /// A result stands before the result of an earlier call of its reply.
    #[error("its result is out of call order")]
    OutOfOrder,
    /// A result has nothing to read.
    #[error("its result is empty")]
    EmptyResult,
    /// A call has no id.
    #[error("a call has no id")]
    EmptyId,
    /// An id stands for an earlier call too.
    #[error("another call has the same id")]
    DoubledId,
    /// The conversation begins with something else than a user's message.
    #[error("the first message after the instructions must be a user's")]
    NotUserFirst,
    /// An id is spelled in a way that the provider refuses.
    #[error("the provider does not accept how its id is spelled")]
    IdSpelling,
    /// A call's name is spelled in a way that the provider refuses.
    #[error("the provider does not accept how its tool's name is spelled")]
    NameSpelling,
    /// The arguments of a past call are no object.
    #[error("its arguments are not a JSON object")]
    ArgumentsNotObject,
    /// A message has neither content nor calls.
    #[error("the message is empty")]
    EmptyMessage,
    /// A user's message follows results.
    #[error("a reply must stand between results and the user's next message")]
    UserAfterResults,
    /// A reply with calls follows a reply.
    #[error("a reply with calls must not follow another reply")]
    CallsAfterReply,
    /// A reply has more calls than the provider takes.
    #[error("the reply has too many calls")]
    TooManyCalls,
}

impl ProviderRules {
    /// Says whether messages are a transcript that the provider accepts.
    ///
    /// # Errors
    ///
    /// Lists everything that breaks a rule, in the order of the messages.
    pub fn check(&self, messages: &[Message]) -> Result<(), Vec<HistoryProblem>> {
        let mut check =
            Check { rules: self, problems: Vec::new(), ids: HashSet::new(), open: VecDeque::new() };
        let mut asked_at = 0;
        let mut begun = false;
        let mut before = None;
        for (index, message) in messages.iter().enumerate() {
            if !matches!(message, Message::Tool(_)) {
                check.unanswered(asked_at);
                asked_at = index;
            }
            if !(begun || matches!(message, Message::System { .. })) {
                begun = true;
                if self.user_first && !matches!(message, Message::User { .. }) {
                    check.report(index, None, ProblemKind::NotUserFirst);
                }
            }
            match message {
                Message::Assistant(reply) => check.reply(index, reply),
                Message::Tool(result) => check.result(index, result),
                Message::System { .. } | Message::User { .. } => {}
            }
            if self.verbatim {
                check.wire(index, before, message);
            }
            before = Some(message);
        }
        check.unanswered(asked_at);
        let mut problems = check.problems;
        // What a reply lacks is known only at the message that follows its results.
        problems.sort_by_key(|problem| problem.index);
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }
}

struct Check<'a> {
    rules: &'a ProviderRules,
    problems: Vec<HistoryProblem>,
    /// The ids that stand for a call.
    ids: HashSet<&'a ToolCallId>,
    /// The calls of the last reply that have no result yet.
    open: VecDeque<&'a ToolCallId>,
}

impl<'a> Check<'a> {
    fn report(&mut self, index: usize, call: Option<&ToolCallId>, kind: ProblemKind) {
        self.problems.push(HistoryProblem { index, call: call.cloned(), kind });
    }

    fn unanswered(&mut self, asked_at: usize) {
        while let Some(id) = self.open.pop_front() {
            self.report(asked_at, Some(id), ProblemKind::Unanswered);
        }
    }

    fn reply(&mut self, index: usize, reply: &'a AssistantMessage) {
        if !self.rules.unique_ids {
            self.ids.clear();
        }
        for call in &reply.tool_calls {
            if call.id.as_str().is_empty() {
                self.report(index, None, ProblemKind::EmptyId);
            } else if !self.ids.insert(&call.id) {
                self.report(index, Some(&call.id), ProblemKind::DoubledId);
            }
            self.open.push_back(&call.id);
        }
    }

    fn result(&mut self, index: usize, result: &ToolMessage) {
        let id = &result.tool_call_id;
        match self.open.iter().position(|open| *open == id) {
            Some(0) => drop(self.open.pop_front()),
            Some(at) => {
                self.open.remove(at);
                self.report(index, Some(id), ProblemKind::OutOfOrder);
            }
            None => self.report(index, Some(id), ProblemKind::Unasked),
        }
        if is_blank(&result.content) {
            self.report(index, Some(id), ProblemKind::EmptyResult);
        }
    }

    fn wire(&mut self, index: usize, before: Option<&Message>, message: &Message) {
        let wire = &self.rules.wire;
        let calls = message.as_assistant().map(|reply| reply.tool_calls.as_slice()).unwrap_or_default();
        let after = |is: fn(&Message) -> bool| before.is_some_and(is);
        if wire.reply_after_results
            && matches!(message, Message::User { .. })
            && after(|before| matches!(before, Message::Tool(_)))
        {
            self.report(index, None, ProblemKind::UserAfterResults);
        }
        if wire.calls_after_input
            && !calls.is_empty()
            && after(|before| matches!(before, Message::Assistant(_)))
        {
            self.report(index, None, ProblemKind::CallsAfterReply);
        }
        if wire.no_empty_message && calls.is_empty() && message.text().trim().is_empty() {
            self.report(index, None, ProblemKind::EmptyMessage);
        }
        if wire.max_calls.is_some_and(|max| calls.len() > max) {
            self.report(index, None, ProblemKind::TooManyCalls);
        }
        for call in calls {
            let id = Some(&call.id);
            if wire.ids.as_ref().is_some_and(|ids| !ids.accepts(call.id.as_str())) {
                self.report(index, id, ProblemKind::IdSpelling);
            }
            if wire.names.as_ref().is_some_and(|names| !names.accepts(&call.name)) {
                self.report(index, id, ProblemKind::NameSpelling);
            }
            if wire.object_arguments && !(call.invalid.is_none() && call.arguments.is_object()) {
                self.report(index, id, ProblemKind::ArgumentsNotObject);
            }
        }
    }
}
