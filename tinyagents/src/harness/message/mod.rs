//! The transcript: messages, their content, the calls a model makes, and a history that stays whole.
//!
//! Guarantee: a [`History`] never holds a tool call without its result. It takes only replies without calls
//! and [`ClosedTurn`]s, so an orphaned call cannot be written down. [`History::repair`] takes what others wrote.
//!
//! Not here: how calls run (`executor`), and how a provider spells messages on the wire (`provider`).

mod arguments;
mod check;
mod content;
mod echo;
mod history;
mod ids;
mod pairing;
mod repair;
mod rules;

pub use arguments::{Arguments, ArgumentsError, parse_arguments};
pub use check::{HistoryProblem, ProblemKind};
pub use content::{ArtifactRef, ContentBlock, ProviderMetadata};
pub use history::{ClosedTurn, History, HistoryError};
pub use repair::{Repair, RepairKind, Repaired};
pub use rules::{ProviderRules, Spelling, WireRules};

use serde::{Deserialize, Serialize};

use super::id::{ToolCallId, ToolName};
pub(crate) use content::{NO_OUTPUT, is_blank, text_of};
pub(crate) use echo::{quoted, shortened};

/// One entry of a transcript.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// Standing instructions.
    System {
        /// What the instructions say.
        content: Vec<ContentBlock>,
    },
    /// What the person, or the application on their behalf, says.
    User {
        /// What was said.
        content: Vec<ContentBlock>,
    },
    /// What the model replied.
    Assistant(AssistantMessage),
    /// The result of one tool call.
    Tool(ToolMessage),
}

impl Message {
    /// A system message of one text.
    pub fn system(text: impl Into<String>) -> Self {
        Self::System { content: vec![ContentBlock::text(text)] }
    }

    /// A user message of one text.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { content: vec![ContentBlock::text(text)] }
    }

    /// A reply of one text, without calls.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::Assistant(AssistantMessage::text(text))
    }

    /// The content blocks of the message.
    pub fn content(&self) -> &[ContentBlock] {
        match self {
            Self::System { content } | Self::User { content } => content,
            Self::Assistant(message) => &message.content,
            Self::Tool(message) => &message.content,
        }
    }

    /// All text of the message, blocks joined by newlines. JSON blocks appear as compact JSON.
    pub fn text(&self) -> String {
        text_of(self.content())
    }

    /// The tool message, if this is one.
    pub fn as_tool(&self) -> Option<&ToolMessage> {
        match self {
            Self::Tool(message) => Some(message),
            _ => None,
        }
    }

    /// The assistant message, if this is one.
    pub fn as_assistant(&self) -> Option<&AssistantMessage> {
        match self {
            Self::Assistant(message) => Some(message),
            _ => None,
        }
    }
}

/// A model's reply: content, calls, or both.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AssistantMessage {
    /// Text and other content beside the calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub content: Vec<ContentBlock>,
    /// The calls, in the order the model emitted them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// Opaque data that the provider wants back with the next request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<ProviderMetadata>,
}

impl AssistantMessage {
    /// A reply of one text, without calls.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![ContentBlock::text(text)], ..Self::default() }
    }

    /// A reply that only makes calls.
    pub fn calls(calls: impl IntoIterator<Item = ToolCall>) -> Self {
        Self::default().with_calls(calls)
    }

    /// Adds calls to the reply.
    pub fn with_calls(mut self, calls: impl IntoIterator<Item = ToolCall>) -> Self {
        self.tool_calls.extend(calls);
        self
    }
}

/// A call that the model wants made, in the one shape that every format and provider is read into.
///
/// An `invalid` call is one whose arguments could not be parsed at all: it is never executed, and the raw text
/// is kept in [`arguments`](Self::arguments) as a JSON string.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Ties the call to its result. Empty or doubled ids are made unique before a call runs.
    pub id: ToolCallId,
    /// The tool's name as the model wrote it.
    pub name: String,
    /// The arguments: an object for a well-formed call.
    pub arguments: Arguments,
    /// Why the arguments could not be parsed, if they could not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invalid: Option<String>,
    /// Opaque data that the provider wants back with this call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<ProviderMetadata>,
}

impl ToolCall {
    /// A well-formed call.
    pub fn new(id: impl Into<ToolCallId>, name: impl Into<String>, arguments: impl Into<Arguments>) -> Self {
        Self { id: id.into(), name: name.into(), arguments: arguments.into(), invalid: None, provider: None }
    }

    /// A call whose arguments came as text, as most providers send them.
    ///
    /// Text that is not JSON makes an `invalid` call with the raw text kept.
    pub fn from_text(id: impl Into<ToolCallId>, name: impl Into<String>, raw: &str) -> Self {
        match parse_arguments(raw) {
            Ok(arguments) => Self::new(id, name, arguments),
            Err(error) => Self::invalid(id, name, raw, error.to_string()),
        }
    }

    /// A call whose arguments could not be parsed: `raw` is kept verbatim, `reason` is told to the model.
    pub fn invalid(
        id: impl Into<ToolCallId>,
        name: impl Into<String>,
        raw: impl Into<String>,
        reason: impl Into<String>,
    ) -> Self {
        Self { invalid: Some(reason.into()), ..Self::new(id, name, serde_json::Value::String(raw.into())) }
    }
}

/// The result of a tool call, as the model reads it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolMessage {
    /// The call that this answers.
    pub tool_call_id: ToolCallId,
    /// The tool's canonical name.
    pub name: ToolName,
    /// What the model reads; never empty.
    pub content: Vec<ContentBlock>,
    /// Whether the call failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// The structured value, for the application; a provider is not sent it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<serde_json::Value>,
    /// Where the whole output is kept, when the model was shown only a part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<ArtifactRef>,
}

impl ToolMessage {
    /// All text of the result.
    pub fn text(&self) -> String {
        text_of(&self.content)
    }
}
