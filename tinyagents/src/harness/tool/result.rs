//! What a tool gives back.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ToolCall;
use crate::harness::id::{ToolCallId, ToolName};
use crate::harness::message::{ArtifactRef, ContentBlock, ProviderMetadata};

/// The outcome of one call.
///
/// The executor stamps id, name and time itself, whatever the tool wrote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The call that this answers.
    pub tool_call_id: ToolCallId,
    /// The tool's canonical name.
    pub name: ToolName,
    /// What the model reads; never empty once the call is settled.
    pub content: Vec<ContentBlock>,
    /// The structured value, for the application. An error has none.
    pub value: Option<Value>,
    /// Where large outputs are kept.
    pub artifacts: Vec<ArtifactRef>,
    /// Whether the call failed.
    pub is_error: bool,
    /// Data of a provider that ran the tool itself.
    pub provider: Option<ProviderMetadata>,
    /// How long the body ran, without waiting for anything before it.
    pub elapsed: Duration,
}

/// What a body returns: content for the model and, optionally, a value for the application.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolOutput {
    /// What the model reads.
    pub content: Vec<ContentBlock>,
    /// The structured value, for the application.
    pub value: Option<Value>,
}

impl ToolOutput {
    /// One text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![ContentBlock::text(text)], value: None }
    }

    /// A structured value; the model reads it as JSON.
    pub fn json(value: impl Into<Value>) -> Self {
        let value = value.into();
        Self { content: vec![ContentBlock::text(value.to_string())], value: Some(value) }
    }

    /// Content in several blocks, such as a text and an image.
    pub fn blocks(content: impl IntoIterator<Item = ContentBlock>) -> Self {
        Self { content: content.into_iter().collect(), value: None }
    }

    /// Adds a value for the application.
    pub fn with_value(mut self, value: impl Into<Value>) -> Self {
        self.value = Some(value.into());
        self
    }

    /// The result of a call that ended well.
    pub fn into_result(self, call: &ToolCall) -> ToolResult {
        self.into_named(call, ToolName::unchecked(&call.name))
    }

    pub(crate) fn into_named(self, call: &ToolCall, name: ToolName) -> ToolResult {
        ToolResult {
            tool_call_id: call.id.clone(),
            name,
            content: self.content,
            value: self.value,
            artifacts: Vec::new(),
            is_error: false,
            provider: None,
            elapsed: Duration::ZERO,
        }
    }
}
