//! What a message can hold.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One piece of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ContentBlock {
    /// Plain text.
    Text {
        /// The text.
        text: String,
    },
    /// A structured value; shown to a model as compact JSON.
    Json {
        /// The value.
        value: Value,
    },
    /// An image.
    Image {
        /// The IANA media type, such as `image/png`.
        media_type: String,
        /// The bytes in base64 (RFC 4648, standard alphabet).
        data: String,
    },
    /// The model's reasoning. It is kept for the provider that wants it back, and is not part of the text.
    Reasoning {
        /// The reasoning as far as the provider shows it.
        text: String,
    },
}

impl ContentBlock {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// A structured block.
    pub fn json(value: impl Into<Value>) -> Self {
        Self::Json { value: value.into() }
    }
}

/// What a model reads where a tool gave back nothing: providers refuse an empty result.
pub(crate) const NO_OUTPUT: &str = "(no output)";

/// Whether there is nothing to read: no block, or only blocks without text.
pub(crate) fn is_blank(content: &[ContentBlock]) -> bool {
    content.iter().all(|block| match block {
        ContentBlock::Text { text } => text.is_empty(),
        ContentBlock::Reasoning { .. } => true,
        ContentBlock::Json { .. } | ContentBlock::Image { .. } => false,
    })
}

/// The text of a list of blocks, joined by newlines.
pub(crate) fn text_of(content: &[ContentBlock]) -> String {
    let mut out = String::new();
    for block in content {
        let piece = match block {
            ContentBlock::Text { text } => std::borrow::Cow::Borrowed(text.as_str()),
            ContentBlock::Json { value } => value.to_string().into(),
            ContentBlock::Image { media_type, .. } => format!("[{media_type}]").into(),
            ContentBlock::Reasoning { .. } => continue,
        };
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&piece);
    }
    out
}

/// Where an output is kept that was too large, or not meant, for the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtifactRef {
    /// The full key in the artifact store.
    pub key: String,
    /// The IANA media type of the stored bytes.
    pub media_type: String,
    /// The size of the stored bytes.
    pub bytes: u64,
}

/// Data that only one provider understands, carried untouched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProviderMetadata {
    /// The provider that wrote it, such as `openai`.
    pub provider: String,
    /// Whatever it wrote.
    pub data: Value,
}
