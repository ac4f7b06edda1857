//! What servers send, read with the tolerance that their dialects need, and a whole reply made of it.
//!
//! Fields whose shape differs between servers are kept as JSON values here and interpreted in one place.

use serde::Deserialize;
use serde_json::{Value, json};

use super::PROVIDER;
use super::call::{CallDraft, Fragment};
use super::error::Fault;
use crate::harness::message::{AssistantMessage, ContentBlock, ProviderMetadata};
use crate::harness::model::{FinishReason, ModelReply, Usage};

/// Told to the model about a call that the token limit cut off.
const TRUNCATED: &str = "truncated: the reply hit the token limit; send a smaller payload";

/// A whole answer, or one chunk of a stream: they differ in `message` and `delta`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Answer {
    pub(super) choices: Option<Vec<Choice>>,
    pub(super) usage: Value,
    pub(super) error: Value,
    /// `"error"` where the error's fields stand at the top.
    pub(super) object: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Choice {
    pub(super) index: Value,
    pub(super) message: Option<Piece>,
    pub(super) delta: Option<Piece>,
    pub(super) finish_reason: Value,
}

/// A message, or a fragment of one.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Piece {
    content: Value,
    refusal: Value,
    reasoning_content: Value,
    reasoning: Value,
    pub(super) tool_calls: Option<Vec<CallPiece>>,
}

/// A call, or a fragment of one.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CallPiece {
    index: Value,
    id: Value,
    function: Option<FunctionPiece>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FunctionPiece {
    name: Value,
    arguments: Value,
}

impl CallPiece {
    /// The fragment, with its place in the list for an index where there is none.
    pub(super) fn into_fragment(self, place: Option<u64>) -> Fragment {
        let text = |value: Value| match value {
            Value::String(text) => text,
            _ => String::new(),
        };
        let function = self.function.unwrap_or_default();
        let index = self.index.as_u64().or_else(|| self.index.as_str()?.parse().ok()).or(place);
        Fragment {
            index,
            id: text(self.id),
            name: text(function.name),
            // Most servers send a string, some an object.
            arguments: match function.arguments {
                Value::Null => String::new(),
                Value::String(text) => text,
                other => other.to_string(),
            },
        }
    }
}

impl Piece {
    /// The text and the reasoning of this piece.
    fn take_text(&mut self) -> (String, String) {
        let (mut text, mut reasoning) = (String::new(), String::new());
        read_content(self.content.take(), &mut text, &mut reasoning);
        // A refusal stands in the place of the text.
        read_content(self.refusal.take(), &mut text, &mut String::new());
        (text, reasoning)
    }

    /// The reasoning that stands in a field of its own, and the field's name.
    fn take_reasoning(&mut self) -> Option<(String, &'static str)> {
        let fields = [(&mut self.reasoning_content, "reasoning_content"), (&mut self.reasoning, "reasoning")];
        fields.into_iter().find_map(|(value, field)| match value.take() {
            Value::String(text) if !text.is_empty() => Some((text, field)),
            _ => None,
        })
    }
}

/// Reads `content`: a string, or a list of parts of which text and thinking are taken.
fn read_content(content: Value, text: &mut String, reasoning: &mut String) {
    match content {
        Value::String(piece) => text.push_str(&piece),
        Value::Array(parts) => parts.into_iter().for_each(|part| read_content(part, text, reasoning)),
        Value::Object(mut part) => {
            if let Some(thinking) = part.get_mut("thinking") {
                read_content(thinking.take(), reasoning, &mut String::new());
            } else if let Some(piece) = part.get_mut("text") {
                read_content(piece.take(), text, reasoning);
            }
        }
        _ => {}
    }
}

/// A reply that is being put together.
#[derive(Debug, Default)]
pub(super) struct Draft {
    text: String,
    reasoning: String,
    /// The field that reasoning came in, and goes back in.
    reasoning_field: Option<&'static str>,
    pub(super) calls: Vec<CallDraft>,
    finish: Option<String>,
    usage: Usage,
}

impl Draft {
    /// Takes everything but the calls, and gives back the new text.
    pub(super) fn take_message(&mut self, piece: &mut Piece) -> String {
        let (text, thinking) = piece.take_text();
        self.text.push_str(&text);
        self.reasoning.push_str(&thinking);
        if let Some((reasoning, field)) = piece.take_reasoning() {
            self.reasoning.push_str(&reasoning);
            self.reasoning_field = Some(field);
        }
        text
    }

    pub(super) fn take_finish(&mut self, reason: &Value) {
        if let Some(reason) = reason.as_str().filter(|reason| !reason.is_empty()) {
            self.finish = Some(reason.to_owned());
        }
    }

    pub(super) fn take_usage(&mut self, usage: &Value) {
        let count = |names: [&str; 2]| names.iter().find_map(|name| usage.get(name)?.as_u64());
        if let Some(tokens) = count(["prompt_tokens", "input_tokens"]) {
            self.usage.input_tokens = tokens;
        }
        if let Some(tokens) = count(["completion_tokens", "output_tokens"]) {
            self.usage.output_tokens = tokens;
        }
    }

    pub(super) fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.calls.is_empty()
    }

    /// The whole reply. Whether there are calls decides, not the finish reason: servers end a reply with calls
    /// with `stop` too.
    pub(super) fn into_reply(self) -> Result<ModelReply, Fault> {
        let reason = self.finish.unwrap_or_default();
        let ended = match reason.as_str() {
            "length" | "model_length" => Some(FinishReason::Length),
            "content_filter" => Some(FinishReason::ContentFilter),
            "error" | "abort" | "insufficient_system_resource" => Some(FinishReason::Other(reason.clone())),
            _ => None,
        };
        let cut_off = ended.as_ref().map(|ended| match ended {
            FinishReason::Length => TRUNCATED.to_owned(),
            other => {
                format!("interrupted: the provider ended the reply early ({other}); make the call again")
            }
        });
        let last = self.calls.len().saturating_sub(1);
        let mut tool_calls = Vec::with_capacity(self.calls.len());
        for (position, call) in self.calls.into_iter().enumerate() {
            tool_calls.push(call.into_call(cut_off.as_deref(), position == last)?);
        }
        let finish = match (ended, reason.as_str()) {
            (Some(early), _) => early,
            (None, _) if !tool_calls.is_empty() => FinishReason::ToolCalls,
            (None, "" | "stop" | "tool_calls" | "function_call") => FinishReason::Stop,
            (None, other) => FinishReason::Other(other.to_owned()),
        };
        let mut content = Vec::new();
        if !self.reasoning.is_empty() {
            content.push(ContentBlock::Reasoning { text: self.reasoning });
        }
        if !self.text.is_empty() {
            content.push(ContentBlock::Text { text: self.text });
        }
        let provider = self.reasoning_field.map(|field| ProviderMetadata {
            provider: PROVIDER.to_owned(),
            data: json!({ REASONING_FIELD: field }),
        });
        let message = AssistantMessage { content, tool_calls, provider };
        Ok(ModelReply { message, finish, usage: self.usage })
    }
}

/// The key under which a reply remembers the field that its reasoning came in.
pub(super) const REASONING_FIELD: &str = "reasoning_field";

impl Answer {
    /// The error that stands in place of a reply, if one does. `named` says that the event was called `error`.
    pub(super) fn reported(&self, raw: &str, named: bool) -> Option<Fault> {
        if !self.error.is_null() {
            return Some(Fault::from_reported(&self.error));
        }
        if named || self.object == "error" {
            return Some(Fault::from_reported(&serde_json::from_str(raw).unwrap_or_default()));
        }
        None
    }
}

/// Reads an answer that came whole.
pub(super) fn read_whole(body: &[u8]) -> Result<(ModelReply, String), Fault> {
    let body = std::str::from_utf8(body).map_err(|_| Fault::Protocol("the body is not UTF-8".into()))?;
    let answer: Answer = serde_json::from_str(body)
        .map_err(|error| Fault::Protocol(format!("the body is not a chat completion: {error}")))?;
    if let Some(fault) = answer.reported(body, false) {
        return Err(fault);
    }
    let choice = answer.choices.unwrap_or_default().into_iter().next();
    let Some(Choice { message: Some(mut message), finish_reason, .. }) = choice else {
        return Err(Fault::Protocol("the body has no `choices[0].message`".into()));
    };
    let mut draft = Draft::default();
    let text = draft.take_message(&mut message);
    draft.take_finish(&finish_reason);
    draft.take_usage(&answer.usage);
    let calls = message.tool_calls.unwrap_or_default();
    draft.calls = calls.into_iter().map(|call| call.into_fragment(None).into()).collect();
    Ok((draft.into_reply()?, text))
}
