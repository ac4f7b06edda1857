//! The transcript in the words of chat completions, in the form that the provider accepts.
//!
//! Guarantee: what a history holds is accepted, whatever a model once wrote: ids and names are spelled as the provider
//! wants them, no two ids become one, and a call keeps its id from request to request.
//!
//! Not here: whether calls and results belong together (`harness::message`).

use std::borrow::Cow;

use foldhash::{HashMap, HashSet};
use serde::Serialize;
use serde_json::Value;

use super::PROVIDER;
use super::request::Dialect;
use super::response::REASONING_FIELD;
use crate::harness::id::ToolCallId;
use crate::harness::message::{AssistantMessage, ContentBlock, Message, NO_OUTPUT, Spelling, ToolCall};
use crate::harness::model::ModelRequest;
use crate::harness::tool::alias;

/// What stands between results and the next message of a user, where something must.
const ACKNOWLEDGED: &str = "OK.";
/// The length of an id that is made up, where the provider leaves the choice.
const ID_LENGTH: usize = 9;

/// The system text and the transcript.
pub(super) fn messages<'a>(request: &'a ModelRequest, dialect: &'a Dialect<'_>) -> Vec<WireMessage<'a>> {
    let ids = Ids::of(&request.messages, dialect.wire.ids.as_ref());
    let mut writer = Writer { request, dialect, ids, out: Vec::with_capacity(request.messages.len() + 1) };
    if let Some(text) = request.settings.system.as_deref() {
        writer.push(WireMessage::saying("system", Content::Text(text.into())));
    }
    let mut rest = request.messages.as_slice();
    while let Some((message, behind)) = rest.split_first() {
        rest = behind;
        match message {
            Message::System { content } => {
                writer.push(WireMessage::saying("system", Content::Text(text_of(content))));
            }
            Message::User { content } => writer.push(WireMessage::saying("user", user_content(content))),
            Message::Tool(_) => writer.push_results([message]),
            Message::Assistant(reply) => {
                let results = behind.iter().take_while(|message| message.as_tool().is_some()).count();
                let (results, behind) = behind.split_at_checked(results).unwrap_or((&[], behind));
                rest = behind;
                writer.push_turn(reply, results);
            }
        }
    }
    writer.out
}

struct Writer<'a, 'd> {
    request: &'a ModelRequest,
    dialect: &'a Dialect<'d>,
    ids: Ids<'a>,
    out: Vec<WireMessage<'a>>,
}

impl<'a> Writer<'a, '_> {
    /// Adds a message, and what the provider wants before it.
    fn push(&mut self, mut message: WireMessage<'a>) {
        let wire = self.dialect.wire;
        if wire.no_empty_message && message.role != "tool" && message.is_empty() {
            return;
        }
        let before = self.out.last().map(|message| message.role);
        if wire.reply_after_results && message.role == "user" && before == Some("tool") {
            self.out.push(WireMessage::saying("assistant", Content::Text(ACKNOWLEDGED.into())));
        }
        if wire.calls_after_input && message.has_calls() {
            while self.out.last().is_some_and(|last| last.role == "assistant" && !last.has_calls()) {
                let earlier = self.out.pop().and_then(|earlier| earlier.content);
                message.content = both(earlier, message.content);
            }
        }
        self.out.push(message);
    }

    /// Adds a reply with its results, as several if it has more calls than the provider takes.
    fn push_turn(&mut self, reply: &'a AssistantMessage, results: &'a [Message]) {
        let calls = reply.tool_calls.as_slice();
        let most = self.dialect.wire.max_calls.unwrap_or(usize::MAX).max(1);
        let mut chunks = calls.chunks(most);
        let first = chunks.next().unwrap_or_default();
        let mut message = self.reply(reply, first);
        let text = text_of(&reply.content);
        message.content = (calls.is_empty() || !text.is_empty()).then_some(Content::Text(text));
        self.push(message);
        if calls.len() <= most {
            return self.push_results(results);
        }
        let mut left: Vec<&Message> = results.iter().collect();
        self.push_answers(first, &mut left);
        for chunk in chunks {
            let message = self.reply(reply, chunk);
            self.push(message);
            self.push_answers(chunk, &mut left);
        }
        self.push_results(left);
    }

    fn push_answers(&mut self, calls: &[ToolCall], results: &mut Vec<&'a Message>) {
        let ids: HashSet<&ToolCallId> = calls.iter().map(|call| &call.id).collect();
        let answers =
            |message: &Message| message.as_tool().is_some_and(|tool| ids.contains(&tool.tool_call_id));
        let (answers, others) = results.drain(..).partition(|message| answers(message));
        *results = others;
        let answers: Vec<&Message> = answers;
        self.push_results(answers);
    }

    fn push_results(&mut self, results: impl IntoIterator<Item = &'a Message>) {
        for result in results.into_iter().filter_map(Message::as_tool) {
            let text = text_of(&result.content);
            // Servers and templates differ in what they make of an empty result; none of it is good.
            let text = if text.trim().is_empty() { NO_OUTPUT.into() } else { text };
            let tool_call_id = Some(self.ids.shown(&result.tool_call_id));
            self.push(WireMessage { tool_call_id, ..WireMessage::saying("tool", Content::Text(text)) });
        }
    }

    fn reply(&self, reply: &'a AssistantMessage, calls: &'a [ToolCall]) -> WireMessage<'a> {
        let tool_calls = calls.iter().map(|call| self.call(call)).collect();
        let mut out = WireMessage { role: "assistant", tool_calls, ..WireMessage::default() };
        if self.dialect.send_reasoning && !calls.is_empty() {
            let field = reply.provider.as_ref().filter(|metadata| metadata.provider == PROVIDER);
            match field.and_then(|metadata| metadata.data.get(REASONING_FIELD)?.as_str()) {
                Some("reasoning_content") => out.reasoning_content = reasoning_of(&reply.content),
                Some("reasoning") => out.reasoning = reasoning_of(&reply.content),
                _ => {}
            }
        }
        out
    }

    fn call(&self, call: &'a ToolCall) -> WireCall<'a> {
        // Servers parse the arguments of past calls, and refuse the whole request for one that is no object.
        let arguments = match (&call.invalid, &*call.arguments) {
            (None, Value::Object(_)) => call.arguments.to_string(),
            _ => "{}".to_owned(),
        };
        let function = WireFunction { name: self.name(&call.name), arguments };
        WireCall { id: self.ids.shown(&call.id), kind: "function", function }
    }

    /// The name of a past call. One that names no tool of the request is whatever a model made up: it is brought into
    /// the form that the provider accepts, and stays the name of no tool.
    fn name(&self, name: &'a str) -> Cow<'a, str> {
        let shown = self.request.shown_name(name);
        let is_tool = |name: &str| self.request.tools.iter().any(|tool| tool.name == name);
        if shown.trim().is_empty() {
            return "unnamed".into();
        }
        match &self.dialect.wire.names {
            Some(rule) if !rule.accepts(shown) && !is_tool(shown) => match alias::fitted(shown, rule) {
                fitted if is_tool(&fitted) => alias::marked(shown, rule, 0).into(),
                fitted => fitted,
            },
            _ => shown.into(),
        }
    }
}

/// The ids of calls that the provider is shown; empty if all are as they are.
///
/// They are given in the order of the transcript, so that what comes later changes none of them.
struct Ids<'a>(HashMap<&'a str, Cow<'a, str>>);

impl<'a> Ids<'a> {
    fn of(messages: &'a [Message], rule: Option<&Spelling>) -> Self {
        let mut shown: HashMap<&str, Cow<'_, str>> = HashMap::default();
        let all = || messages.iter().flat_map(ids_of).map(ToolCallId::as_str);
        let Some(rule) = rule.filter(|rule| all().any(|id| !rule.accepts(id))) else {
            return Self(shown);
        };
        let mut taken: HashSet<Cow<'_, str>> = HashSet::default();
        for id in all() {
            if shown.contains_key(id) {
                continue;
            }
            let as_it_is = (rule.accepts(id) && !taken.contains(id)).then_some(Cow::Borrowed(id));
            let made = || (0..).map(|copy| made_id(id, rule, copy).into()).find(|made| !taken.contains(made));
            let Some(free) = as_it_is.or_else(made) else { continue };
            taken.insert(free.clone());
            shown.insert(id, free);
        }
        Self(shown)
    }

    fn shown(&self, id: &'a ToolCallId) -> Cow<'a, str> {
        self.0.get(id.as_str()).cloned().unwrap_or(Cow::Borrowed(id.as_str()))
    }
}

fn ids_of(message: &Message) -> impl Iterator<Item = &ToolCallId> {
    let calls = message.as_assistant().map(|reply| reply.tool_calls.as_slice()).unwrap_or_default();
    let answered = message.as_tool().map(|result| &result.tool_call_id);
    calls.iter().map(|call| &call.id).chain(answered)
}

/// Letters and digits made of an id: every provider takes them.
fn made_id(id: &str, rule: &Spelling, copy: u32) -> String {
    let mut hash = alias::stable_hash(id, copy);
    let digit = |_| {
        let digit = u8::try_from(hash % 62).unwrap_or_default();
        hash /= 62;
        char::from(match digit {
            0..=9 => b'0' + digit,
            10..=35 => b'A' + (digit - 10),
            _ => b'a' + (digit - 36),
        })
    };
    (0..ID_LENGTH.max(rule.min).min(rule.max)).map(digit).collect()
}

fn both<'a>(first: Option<Content<'a>>, second: Option<Content<'a>>) -> Option<Content<'a>> {
    match (first, second) {
        (Some(Content::Text(first)), Some(Content::Text(second))) => {
            Some(Content::Text(joined([first, second].into_iter())))
        }
        (first, second) => second.or(first),
    }
}

#[derive(Default, Serialize)]
pub(super) struct WireMessage<'a> {
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
    tool_call_id: Option<Cow<'a, str>>,
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
    fn saying(role: &'static str, content: Content<'a>) -> Self {
        Self { role, content: Some(content), ..Self::default() }
    }

    fn has_calls(&self) -> bool {
        !self.tool_calls.is_empty()
    }

    fn is_empty(&self) -> bool {
        let blank = match &self.content {
            Some(Content::Text(text)) => text.trim().is_empty(),
            Some(Content::Parts(parts)) => parts.is_empty(),
            None => true,
        };
        blank && !self.has_calls()
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
    id: Cow<'a, str>,
    #[serde(rename = "type")]
    kind: &'static str,
    function: WireFunction<'a>,
}

#[derive(Serialize)]
struct WireFunction<'a> {
    name: Cow<'a, str>,
    arguments: String,
}
