#![doc = include_str!("../../../docs/openai.md")]

mod call;
mod endpoint;
mod error;
mod request;
mod response;
mod stream;
mod transcript;
mod transport;

use std::borrow::Cow;
use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};

use self::endpoint::Endpoint;
use self::error::Fault;
use self::request::Dialect;
use crate::harness::message::{ProviderRules, WireRules};
use crate::harness::model::{DeltaSink, Model, ModelError, ModelReply, ModelRequest};
use crate::harness::tool::dialect::SchemaDialect;

/// The name of the metadata that is kept, and of the provider unless another is known.
const PROVIDER: &str = "openai";
const DEFAULT_BASE_URL: &str = "https://api.openai.com/v1";

/// How a tool choice that names one tool is sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum NamedToolChoice {
    /// As an object with the tool's name, beside all tools: what OpenAI specifies.
    #[default]
    ByName,
    /// As `required`, with only that tool in the request: for servers such as llama.cpp, which take an object for
    /// `auto` without saying so.
    OnlyThatTool,
}

/// A model behind an OpenAI-compatible chat-completions endpoint. The [module](self) is its guide.
///
/// A clone shares the connections.
#[derive(Clone)]
pub struct OpenAi {
    endpoint: Result<Endpoint, String>,
    model: String,
    provider: Cow<'static, str>,
    wire: WireRules,
    schemas: SchemaDialect,
    headers: HeaderMap,
    has_key: bool,
    /// The first header that cannot be sent.
    bad_header: Option<String>,
    streaming: bool,
    send_reasoning: bool,
    named_tool_choice: NamedToolChoice,
    connect_timeout: Duration,
    idle_timeout: Duration,
    max_response_bytes: usize,
    client: OnceLock<Result<reqwest::Client, String>>,
}

impl OpenAi {
    /// A model by its name on the server at `base_url`.
    ///
    /// The address of requests is made of the base URL so: without a path, `/v1/chat/completions` is added; with
    /// a path, `/chat/completions`; an address that ends in `/chat/completions` is taken as it is. A slash at the
    /// end makes no difference, and a query stays.
    ///
    /// Nothing is sent yet. [`check`](Self::check) finds out whether a request can be built at all; otherwise the
    /// first one tells.
    pub fn new(base_url: impl AsRef<str>, model: impl Into<String>) -> Self {
        let endpoint = Endpoint::new(base_url.as_ref());
        let provider = endpoint.as_ref().map_or(PROVIDER, Endpoint::provider);
        let schemas = match endpoint.as_ref().is_ok_and(Endpoint::is_known) {
            true => SchemaDialect::for_provider(provider),
            // Other servers speak OpenAI's protocol, but not its schemas: some refuse the flag for strict mode.
            false => SchemaDialect::canonical(),
        };
        Self {
            endpoint,
            model: model.into(),
            provider: provider.into(),
            wire: wire_rules(provider),
            schemas,
            headers: HeaderMap::new(),
            has_key: false,
            bad_header: None,
            streaming: true,
            send_reasoning: true,
            named_tool_choice: NamedToolChoice::default(),
            connect_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(300),
            max_response_bytes: 64 * 1024 * 1024,
            client: OnceLock::new(),
        }
    }

    /// A model as the environment describes it: `OPENAI_MODEL`, `OPENAI_BASE_URL` (by default OpenAI's own), and
    /// `OPENAI_API_KEY`, which other servers may not need. An empty variable counts as absent.
    ///
    /// # Errors
    ///
    /// Names the variable that is missing or wrong, and says what to set it to.
    pub fn from_env() -> Result<Self, ModelError> {
        let read = |name: &str| match std::env::var(name) {
            Ok(value) if value.trim().is_empty() => Ok(None),
            Ok(value) => Ok(Some(value.trim().to_owned())),
            Err(std::env::VarError::NotPresent) => Ok(None),
            Err(_) => Err(ModelError::Other(format!("{name} is not UTF-8; set it to plain text"))),
        };
        let base_url = read("OPENAI_BASE_URL")?;
        let Some(model) = read("OPENAI_MODEL")? else {
            let text = "OPENAI_MODEL is not set; set it to the name of a model on the server";
            return Err(ModelError::Other(text.into()));
        };
        let key = read("OPENAI_API_KEY")?;
        if key.is_none() && base_url.is_none() {
            let text = "OPENAI_API_KEY is not set; set it to a key of api.openai.com, or set OPENAI_BASE_URL to a \
                        server that needs none";
            return Err(ModelError::Other(text.into()));
        }
        let mut model = Self::new(base_url.as_deref().unwrap_or(DEFAULT_BASE_URL), model);
        if let Some(key) = key {
            model = model.api_key(key);
        }
        model.check()?;
        Ok(model)
    }

    /// Sends the key as a bearer token. It is shown nowhere, neither by `Debug` nor in errors.
    pub fn api_key(mut self, key: impl AsRef<str>) -> Self {
        // Keys that come from files end in a newline.
        let value = format!("Bearer {}", key.as_ref().trim());
        self.has_key = true;
        self.header(AUTHORIZATION, value)
    }

    /// Says whose server this is, where the address does not (`mistral` is known by `api.mistral.ai`; anything else
    /// counts as `openai`). It is what [`Model::provider`] gives, and by it the past is spelled as the provider accepts
    /// it: [`ProviderRules::of`] that name, or those of OpenAI if it is another; and tools are sent in the form of
    /// [`SchemaDialect::for_provider`]. For `llama.cpp` a named tool choice is
    /// [`NamedToolChoice::OnlyThatTool`] too.
    pub fn with_provider(mut self, provider: impl Into<Cow<'static, str>>) -> Self {
        self.provider = provider.into();
        self.wire = wire_rules(&self.provider);
        self.schemas = SchemaDialect::for_provider(&self.provider);
        if self.schemas.name == "llama.cpp" {
            self.named_tool_choice = NamedToolChoice::OnlyThatTool;
        }
        self
    }

    /// Sets the form in which the schemas of tools are sent. By default that of the provider, where it is known by the
    /// address or by [`with_provider`](Self::with_provider), and else the schemas as they are.
    pub fn with_dialect(mut self, dialect: SchemaDialect) -> Self {
        self.schemas = dialect;
        self
    }

    /// Sends a header with every request. Its value is treated as a secret, like a key.
    pub fn header(mut self, name: impl AsRef<str>, value: impl AsRef<str>) -> Self {
        let name = name.as_ref();
        match (HeaderName::try_from(name), HeaderValue::try_from(value.as_ref())) {
            (Ok(name), Ok(mut value)) => {
                value.set_sensitive(true);
                self.headers.insert(name, value);
            }
            _ => self.bad_header = self.bad_header.or_else(|| Some(name.to_owned())),
        }
        self
    }

    /// Whether replies are streamed; by default they are.
    pub fn streaming(mut self, streaming: bool) -> Self {
        self.streaming = streaming;
        self
    }

    /// Whether reasoning is sent back with the calls that it led to; by default it is, in the field it came in.
    pub fn send_reasoning(mut self, send: bool) -> Self {
        self.send_reasoning = send;
        self
    }

    /// How a tool choice that names one tool is sent; by default as OpenAI specifies it.
    pub fn named_tool_choice(mut self, how: NamedToolChoice) -> Self {
        self.named_tool_choice = how;
        self
    }

    /// The longest wait for a connection; 10 seconds by default.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self.client = OnceLock::new();
        self
    }

    /// The longest silence of the server, before and within a reply; 5 minutes by default. There is no limit on a
    /// whole reply: that is a matter of the run.
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = timeout;
        self.client = OnceLock::new();
        self
    }

    /// The most bytes of one answer, 64 MiB by default: a server that never ends cannot fill the memory.
    pub fn max_response_bytes(mut self, bytes: usize) -> Self {
        self.max_response_bytes = bytes;
        self
    }

    /// Whether requests can be built: the base URL, the headers and the certificates are looked at, and nothing is
    /// sent.
    ///
    /// # Errors
    ///
    /// Says which setting is wrong.
    pub fn check(&self) -> Result<(), ModelError> {
        self.ready().map(drop).map_err(|fault| self.error(fault))
    }

    fn ready(&self) -> Result<(&Endpoint, &reqwest::Client), Fault> {
        let endpoint = self.endpoint.as_ref().map_err(|reason| Fault::Setup(reason.clone()))?;
        if let Some(name) = &self.bad_header {
            let reason =
                format!("the header `{}` cannot be sent; only visible ASCII can", name.escape_debug());
            return Err(Fault::Setup(reason));
        }
        let client =
            self.client.get_or_init(|| transport::client(endpoint, self.connect_timeout, self.idle_timeout));
        Ok((endpoint, client.as_ref().map_err(|reason| Fault::Setup(reason.clone()))?))
    }

    async fn ask(&self, request: &ModelRequest, deltas: &DeltaSink<'_>) -> Result<ModelReply, Fault> {
        let (endpoint, client) = self.ready()?;
        let dialect = Dialect {
            model: &self.model,
            streaming: self.streaming,
            named_tool_choice: self.named_tool_choice,
            send_reasoning: self.send_reasoning,
            schemas: &self.schemas,
            wire: &self.wire,
            max_tokens: endpoint.max_tokens_field(),
        };
        let body = request::encode(request, &dialect)?;
        let post = client.post(endpoint.url.clone()).headers(self.headers.clone()).body(body);
        transport::Exchange {
            streaming: self.streaming,
            connect_timeout: self.connect_timeout,
            idle_timeout: self.idle_timeout,
            max_bytes: self.max_response_bytes,
        }
        .run(post, deltas)
        .await
    }

    fn error(&self, fault: Fault) -> ModelError {
        let shown = self.endpoint.as_ref().map_or("the model's server", |endpoint| &endpoint.shown);
        let mut secrets: Vec<String> = self.endpoint.iter().flat_map(Endpoint::secrets).collect();
        let values = self.headers.values().filter_map(|value| value.to_str().ok());
        secrets.extend(values.map(|value| value.strip_prefix("Bearer ").unwrap_or(value).to_owned()));
        fault.at(shown, &secrets)
    }
}

fn wire_rules(provider: &str) -> WireRules {
    ProviderRules::of(provider).unwrap_or_else(ProviderRules::open_ai).wire
}

impl fmt::Debug for OpenAi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let endpoint = self.endpoint.as_ref().map_or_else(String::as_str, |endpoint| &endpoint.shown);
        f.debug_struct("OpenAi")
            .field("endpoint", &endpoint)
            .field("model", &self.model)
            .field("provider", &self.provider)
            .field("api_key", &if self.has_key { "[redacted]" } else { "none" })
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .field("streaming", &self.streaming)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Model for OpenAi {
    fn name(&self) -> &str {
        &self.model
    }

    fn provider(&self) -> &str {
        &self.provider
    }

    fn dialect(&self) -> SchemaDialect {
        self.schemas.clone()
    }

    async fn generate(
        &self,
        request: &ModelRequest,
        deltas: &DeltaSink<'_>,
    ) -> Result<ModelReply, ModelError> {
        self.ask(request, deltas).await.map_err(|fault| self.error(fault))
    }
}
