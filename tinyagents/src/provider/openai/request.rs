//! A request in the words of chat completions, written straight from the transcript without copying it.
//!
//! Guarantee: whatever a model once wrote can stand in the history; no server refuses the transcript for a call
//! that was malformed or named a tool that is none.

use std::borrow::Cow;

use serde::Serialize;
use serde::ser::{Error as _, SerializeMap, Serializer};
use serde_json::Value;

use super::error::Fault;
use super::response::REASONING_FIELD;
use super::{NamedToolChoice, PROVIDER};
use crate::harness::message::{AssistantMessage, ContentBlock, Message, NO_OUTPUT, ToolCall};
use crate::harness::model::{ModelRequest, ToolChoice};
use crate::harness::tool::{JsonSchema, ToolSchema};

/// What the client adds to a request.
pub(super) struct Dialect<'a> {
    pub(super) model: &'a str,
    pub(super) streaming: bool,
    pub(super) named_tool_choice: NamedToolChoice,
    pub(super) send_reasoning: bool,
    /// The name of the field for the token limit.
    pub(super) max_tokens: &'static str,
}

/// The body of a request.
pub(super) fn encode(request: &ModelRequest, dialect: &Dialect<'_>) -> Result<Vec<u8>, Fault> {
    if let ToolChoice::Named(name) = &request.settings.tool_choice {
        let shown = request.shown_name(name);
        if !request.tools.iter().any(|tool| tool.name == shown) {
            return Err(Fault::Setup(format!(
                "the tool choice names `{name}`, which is not shown in this request"
            )));
        }
    }
    serde_json::to_vec(&Body { request, dialect })
        .map_err(|error| Fault::Setup(format!("the request cannot be written as JSON: {error}")))
}

struct Body<'a> {
    request: &'a ModelRequest,
    dialect: &'a Dialect<'a>,
}

impl Body<'_> {
    /// Writes a field, unless the caller's own one takes its place.
    fn put<M: SerializeMap>(
        &self,
        map: &mut M,
        key: &str,
        value: &(impl Serialize + ?Sized),
    ) -> Result<(), M::Error> {
        if self.request.settings.extra.contains_key(key) {
            return Ok(());
        }
        map.serialize_entry(key, value)
    }

    fn put_some<M: SerializeMap>(
        &self,
        map: &mut M,
        key: &str,
        value: Option<impl Serialize>,
    ) -> Result<(), M::Error> {
        value.map_or(Ok(()), |value| self.put(map, key, &value))
    }

    fn put_tools<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let settings = &self.request.settings;
        let mut tools: Vec<WireTool<'_>> = self.request.tools.iter().map(WireTool::from).collect();
        if tools.is_empty() {
            return Ok(());
        }
        let choice = match &settings.tool_choice {
            ToolChoice::Auto => None,
            ToolChoice::None => Some(WireChoice::Word("none")),
            ToolChoice::Required => Some(WireChoice::Word("required")),
            ToolChoice::Named(name) => {
                let name = self.request.shown_name(name);
                Some(match self.dialect.named_tool_choice {
                    NamedToolChoice::ByName => {
                        WireChoice::Tool { kind: "function", function: WireName { name } }
                    }
                    NamedToolChoice::OnlyThatTool => {
                        tools.retain(|tool| tool.function.name == name);
                        WireChoice::Word("required")
                    }
                })
            }
        };
        self.put(map, "tools", &tools)?;
        self.put_some(map, "tool_choice", choice)?;
        self.put_some(map, "parallel_tool_calls", settings.parallel_tool_calls)
    }
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let settings = &self.request.settings;
        let mut map = serializer.serialize_map(None)?;
        self.put(&mut map, "model", self.dialect.model)?;
        self.put(&mut map, "messages", &Messages(self))?;
        self.put_tools(&mut map)?;
        if settings.temperature.is_some_and(|temperature| !temperature.is_finite()) {
            return Err(S::Error::custom("the temperature is not a number"));
        }
        self.put_some(&mut map, "temperature", settings.temperature)?;
        self.put_some(&mut map, self.dialect.max_tokens, settings.max_tokens)?;
        self.put_some(&mut map, "stop", (!settings.stop.is_empty()).then_some(&settings.stop))?;
        self.put_some(&mut map, "seed", settings.seed)?;
        self.put(&mut map, "stream", &self.dialect.streaming)?;
        if self.dialect.streaming {
            self.put(&mut map, "stream_options", &StreamOptions { include_usage: true })?;
        }
        for (key, value) in &settings.extra {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

struct Messages<'a>(&'a Body<'a>);

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Body { request, dialect } = self.0;
        let system = request.settings.system.as_deref().map(|text| WireMessage {
            role: "system",
            content: Some(Content::Text(text.into())),
            ..WireMessage::default()
        });
        let transcript = request.messages.iter().map(|message| WireMessage::of(message, request, dialect));
        serializer.collect_seq(system.into_iter().chain(transcript))
    }
}

#[derive(Default, Serialize)]
struct WireMessage<'a> {
    role: &'static str,
    /// `null` beside calls without text; left out nowhere, because some servers insist on the field.
    content: Option<Content<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<WireCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<Part<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part<'a> {
    Text { text: Cow<'a, str> },
    ImageUrl { image_url: ImageUrl },
}

#[derive(Serialize)]
struct ImageUrl {
    url: String,
}

impl<'a> WireMessage<'a> {
    fn of(message: &'a Message, request: &'a ModelRequest, dialect: &Dialect<'_>) -> Self {
        match message {
            Message::System { content } => {
                Self { role: "system", content: Some(Content::Text(text_of(content))), ..Self::default() }
            }
            Message::User { content } => {
                Self { role: "user", content: Some(user_content(content)), ..Self::default() }
            }
            Message::Assistant(reply) => Self::of_reply(reply, request, dialect),
            Message::Tool(result) => {
                let text = text_of(&result.content);
                // Servers and templates differ in what they make of an empty result; none of it is good.
                let text = if text.trim().is_empty() { NO_OUTPUT.into() } else { text };
                Self {
                    role: "tool",
                    content: Some(Content::Text(text)),
                    tool_call_id: Some(result.tool_call_id.as_str()),
                    ..Self::default()
                }
            }
        }
    }

    fn of_reply(reply: &'a AssistantMessage, request: &'a ModelRequest, dialect: &Dialect<'_>) -> Self {
        let tool_calls: Vec<_> = reply.tool_calls.iter().map(|call| WireCall::of(call, request)).collect();
        let text = text_of(&reply.content);
        let content = (tool_calls.is_empty() || !text.is_empty()).then_some(Content::Text(text));
        let mut out = Self { role: "assistant", content, tool_calls, ..Self::default() };
        if dialect.send_reasoning && !reply.tool_calls.is_empty() {
            let field = reply.provider.as_ref().filter(|metadata| metadata.provider == PROVIDER);
            match field.and_then(|metadata| metadata.data.get(REASONING_FIELD)?.as_str()) {
                Some("reasoning_content") => out.reasoning_content = reasoning_of(&reply.content),
                Some("reasoning") => out.reasoning = reasoning_of(&reply.content),
                _ => {}
            }
        }
        out
    }
}

/// The text of a message, borrowed where it is a single block.
fn text_of(content: &[ContentBlock]) -> Cow<'_, str> {
    joined(content.iter().filter_map(|block| match block {
        ContentBlock::Text { text } => Some(Cow::Borrowed(text.as_str())),
        ContentBlock::Json { value } => Some(value.to_string().into()),
        ContentBlock::Image { media_type, .. } => Some(format!("[{media_type}]").into()),
        ContentBlock::Reasoning { .. } => None,
    }))
}

fn reasoning_of(content: &[ContentBlock]) -> Option<Cow<'_, str>> {
    let text = joined(content.iter().filter_map(|block| match block {
        ContentBlock::Reasoning { text } => Some(Cow::Borrowed(text.as_str())),
        _ => None,
    }));
    (!text.is_empty()).then_some(text)
}

fn joined<'a>(mut pieces: impl Iterator<Item = Cow<'a, str>>) -> Cow<'a, str> {
    let first = pieces.next().unwrap_or_default();
    pieces.fold(first, |all, piece| if all.is_empty() { piece } else { format!("{all}\n{piece}").into() })
}

fn user_content(content: &[ContentBlock]) -> Content<'_> {
    if !content.iter().any(|block| matches!(block, ContentBlock::Image { .. })) {
        return Content::Text(text_of(content));
    }
    let shown = |block: &&ContentBlock| !matches!(block, ContentBlock::Reasoning { .. });
    Content::Parts(content.iter().filter(shown).map(user_part).collect())
}

fn user_part(block: &ContentBlock) -> Part<'_> {
    match block {
        ContentBlock::Image { media_type, data } => {
            Part::ImageUrl { image_url: ImageUrl { url: format!("data:{media_type};base64,{data}") } }
        }
        other => Part::Text { text: text_of(std::slice::from_ref(other)) },
    }
}

#[derive(Serialize)]
struct WireCall<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    function: WireFunction<'a>,
}

#[derive(Serialize)]
struct WireFunction<'a> {
    name: Cow<'a, str>,
    arguments: String,
}

impl<'a> WireCall<'a> {
    fn of(call: &'a ToolCall, request: &'a ModelRequest) -> Self {
        // Servers parse the arguments of past calls, and refuse the whole request for one that is no object.
        let arguments = match (&call.invalid, &*call.arguments) {
            (None, Value::Object(_)) => call.arguments.to_string(),
            _ => "{}".to_owned(),
        };
        let function = WireFunction { name: past_name(&call.name, request), arguments };
        Self { id: call.id.as_str(), kind: "function", function }
    }
}

/// The name of a past call. One that names no tool of the request is whatever a model made up: it is brought into
/// the form that servers accept (`^[a-zA-Z0-9_-]{1,64}$`).
fn past_name<'a>(name: &'a str, request: &'a ModelRequest) -> Cow<'a, str> {
    let shown = request.shown_name(name);
    let accepted = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let plain = (1..=64).contains(&shown.len()) && shown.chars().all(accepted);
    if plain || request.tools.iter().any(|tool| tool.name == shown) {
        return shown.into();
    }
    let name: String = shown.chars().take(64).map(|c| if accepted(c) { c } else { '_' }).collect();
    if name.is_empty() { "unnamed".into() } else { name.into() }
}

#[derive(Serialize)]
struct WireTool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    function: WireDeclaration<'a>,
}

#[derive(Serialize)]
struct WireDeclaration<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    parameters: &'a JsonSchema,
}

impl<'a> From<&'a ToolSchema> for WireTool<'a> {
    fn from(tool: &'a ToolSchema) -> Self {
        let ToolSchema { name, description, parameters, .. } = tool;
        Self { kind: "function", function: WireDeclaration { name, description, parameters } }
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum WireChoice<'a> {
    Word(&'static str),
    Tool {
        #[serde(rename = "type")]
        kind: &'static str,
        function: WireName<'a>,
    },
}

#[derive(Serialize)]
struct WireName<'a> {
    name: &'a str,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}
