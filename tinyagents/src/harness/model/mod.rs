//! The model: what it is asked, what it replies, and how it streams.
//!
//! Not here: providers (`provider`), and what is done with a reply (`runtime`).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

pub use super::context::{ModelSettings, ToolChoice};

use super::id::ToolName;
use super::message::{AssistantMessage, Message};
use super::tool::dialect::SchemaDialect;
use super::tool::{AdaptedTools, ToolSchema};

/// A language model.
#[async_trait]
pub trait Model: Send + Sync {
    /// The model's name, for events.
    fn name(&self) -> &str;

    /// The provider, such as `openai`: aliases of tool names are chosen by it.
    fn provider(&self) -> &str;

    /// The form of tools' schemas that the model is sent, where its client sends them as `adapted` of the request has
    /// them. By default what is known of the provider.
    fn dialect(&self) -> SchemaDialect {
        SchemaDialect::for_provider(self.provider())
    }

    /// Replies to a request. Pieces of the text are given to `deltas` as they arrive; the reply is whole all the
    /// same. Dropping the future ends the request.
    ///
    /// # Errors
    ///
    /// Why there is no reply. Arguments that are no JSON are no error: they become an invalid
    /// [`ToolCall`](super::message::ToolCall).
    async fn generate(
        &self,
        request: &ModelRequest,
        deltas: &DeltaSink<'_>,
    ) -> Result<ModelReply, ModelError>;
}

/// Takes the pieces of a reply as they arrive.
pub struct DeltaSink<'a>(&'a (dyn Fn(&str) + Send + Sync));

impl<'a> DeltaSink<'a> {
    /// A sink that calls `on_text` with each piece of text.
    pub fn new(on_text: &'a (dyn Fn(&str) + Send + Sync)) -> Self {
        Self(on_text)
    }

    /// Hands on a piece of the reply's text.
    pub fn text(&self, piece: &str) {
        if !piece.is_empty() {
            (self.0)(piece);
        }
    }
}

/// What a model is asked.
#[derive(Debug, Clone, Default)]
pub struct ModelRequest {
    /// The transcript, shared with the run. A model that keeps it makes the run copy it to go on.
    pub messages: Arc<Vec<Message>>,
    /// The tools that may be called. Names are those that this provider is shown.
    pub tools: Arc<Vec<ToolSchema>>,
    /// The same tools in the [dialect](Model::dialect) of the model, worked out once.
    pub adapted: Arc<AdaptedTools>,
    /// Canonical names that this provider is shown under another name; for calls in `messages`.
    pub aliases: Arc<BTreeMap<ToolName, String>>,
    /// The settings.
    pub settings: ModelSettings,
}

impl ModelRequest {
    /// The name that the provider knows a tool by.
    pub fn shown_name<'a>(&'a self, name: &'a str) -> &'a str {
        self.aliases.get(name).map_or(name, String::as_str)
    }
}

/// A whole reply.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelReply {
    /// What the model said.
    pub message: AssistantMessage,
    /// Why it stopped.
    pub finish: FinishReason,
    /// What it cost.
    pub usage: Usage,
}

impl From<AssistantMessage> for ModelReply {
    fn from(message: AssistantMessage) -> Self {
        let finish = if message.tool_calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
        Self { message, finish, usage: Usage::default() }
    }
}

/// Why a model stopped.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FinishReason {
    /// It was done.
    #[default]
    Stop,
    /// It wants calls made.
    ToolCalls,
    /// It ran into the token limit: text and arguments may be cut off.
    Length,
    /// The provider withheld content.
    ContentFilter,
    /// Something else, in the provider's words.
    Other(String),
}

impl fmt::Display for FinishReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stop => "stop",
            Self::ToolCalls => "tool_calls",
            Self::Length => "length",
            Self::ContentFilter => "content_filter",
            Self::Other(reason) => reason,
        })
    }
}

/// Tokens, as the provider counted them; 0 if it did not say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        // A provider may send any number.
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
    }
}

/// Why there is no reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The provider could not be reached, or the connection broke.
    #[error("{endpoint} cannot be reached: {reason}")]
    Unreachable {
        /// Where the request went.
        endpoint: String,
        /// What went wrong.
        reason: String,
    },
    /// The provider answered with an error.
    #[error("{endpoint} answered {status}: {message}")]
    Status {
        /// Where the request went.
        endpoint: String,
        /// The HTTP status.
        status: u16,
        /// The provider's words, shortened.
        message: String,
        /// How long the provider asks to wait.
        retry_after: Option<Duration>,
    },
    /// The answer is none that can be understood.
    #[error("{endpoint} sent an answer that cannot be read: {reason}")]
    Protocol {
        /// Where the request went.
        endpoint: String,
        /// What is wrong with the answer.
        reason: String,
    },
    /// A script has no more replies.
    #[error("the script has no more replies: request {request} was not expected")]
    ScriptEnded {
        /// The number of the request, from 1.
        request: usize,
    },
    /// The model's own words.
    #[error("{0}")]
    Other(String),
}

impl ModelError {
    /// Whether the same request may succeed later: no connection, or one of the statuses that providers document
    /// as passing (408, 409, 429, 5xx).
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::Status { status, .. } => matches!(status, 408 | 409 | 429 | 500..),
            _ => false,
        }
    }
}
