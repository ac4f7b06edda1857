//! A request in the words of chat completions, written straight from the transcript without copying it.
//!
//! Not here: the messages (`transcript`).

use serde::Serialize;
use serde::ser::{Error as _, SerializeMap, Serializer};

use super::NamedToolChoice;
use super::error::Fault;
use super::transcript;
use crate::harness::message::WireRules;
use crate::harness::model::{ModelRequest, ToolChoice};
use crate::harness::tool::dialect::SchemaDialect;
use crate::harness::tool::{AdaptedTools, JsonSchema, ToolSchema};

/// What the client adds to a request.
pub(super) struct Dialect<'a> {
    pub(super) model: &'a str,
    pub(super) streaming: bool,
    pub(super) named_tool_choice: NamedToolChoice,
    pub(super) send_reasoning: bool,
    /// The form of tools' schemas.
    pub(super) schemas: &'a SchemaDialect,
    /// How the provider wants the past spelled.
    pub(super) wire: &'a WireRules,
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
        if self.request.tools.is_empty() {
            return Ok(());
        }
        // What a hook changed, and what a caller made by hand, is written anew.
        let given = &*self.request.adapted;
        let is_given = given.dialect() == self.dialect.schemas
            && self.request.tools.iter().all(|tool| given.get(tool).is_some());
        let anew = (!is_given).then(|| AdaptedTools::of(self.dialect.schemas.clone(), &self.request.tools));
        let adapted = anew.as_ref().unwrap_or(given);
        let wire = |tool| WireTool::of(tool, adapted);
        let mut tools: Vec<WireTool<'_>> = self.request.tools.iter().map(wire).collect();
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
        self.put(&mut map, "messages", &transcript::messages(self.request, self.dialect))?;
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
    #[serde(skip_serializing_if = "Option::is_none")]
    strict: Option<bool>,
}

impl<'a> WireTool<'a> {
    fn of(tool: &'a ToolSchema, adapted: &'a AdaptedTools) -> Self {
        let ToolSchema { name, description, parameters, .. } = tool;
        let adapted_tool = adapted.get(tool);
        let parameters = adapted_tool.map_or(parameters, |adapted| &adapted.schema.parameters);
        // Where a provider has strict mode, its default has changed before: it is never left open.
        let strict = adapted.dialect().strict.then(|| adapted_tool.is_some_and(|tool| tool.strict));
        Self { kind: "function", function: WireDeclaration { name, description, parameters, strict } }
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
