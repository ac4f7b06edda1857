//! The harness: models, tools, hooks, and the rules of a run.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::agent_loop::RunSetup;
use super::{AgentRun, RunPolicy, RunStream};
use crate::harness::context::{RunConfig, RunContext};
use crate::harness::credential::CredentialProvider;
use crate::harness::event::{EventListener, PayloadCapture};
use crate::harness::message::{Message, ToolCall};
use crate::harness::middleware::Middleware;
use crate::harness::model::{Model, ModelSettings};
use crate::harness::source::{Clock, IdSource, RandomIds, SystemClock};
use crate::harness::store::StoreRegistry;
use crate::harness::tool::{Grants, RegistryError, Shared, Tool, ToolRegistry, ToolResult, ToolSet, Toolset};
use crate::harness::workspace::WorkspaceDescriptor;
use crate::{Result, TinyAgentsError};

type ToolSets<S, C> = Mutex<HashMap<String, Arc<ToolSet<S, C>>>>;

/// Models, tools, hooks and rules: everything a run needs but its messages.
///
/// `State` is what tools borrow from with `#[inject]`; `Ctx` is the data of one run.
///
/// ```
/// use tinyagents::prelude::*;
/// use tinyagents::testkit::ScriptedModel;
///
/// /// Add two numbers.
/// #[tool(read_only)]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> tinyagents::Result<()> {
/// let model = ScriptedModel::new().call("add", json!({ "a": 2, "b": 3 })).text("It is 5.");
/// let mut harness: AgentHarness<()> = AgentHarness::new();
/// harness.register_model("default", model)?.register_tool(Add)?;
/// let run = harness.invoke(&(), vec![Message::user("2 + 3?")]).await?;
/// assert_eq!(run.answer().as_deref(), Some("It is 5."));
/// assert_eq!(run.messages[2].text(), "5");
/// # Ok(())
/// # }
/// ```
pub struct AgentHarness<State: Send + Sync, Ctx: Send + Sync = ()> {
    models: Vec<(String, Arc<dyn Model>)>,
    tools: ToolRegistry<State, Ctx>,
    tool_sets: ToolSets<State, Ctx>,
    middleware: Vec<Arc<dyn Middleware<State, Ctx>>>,
    listeners: Vec<Arc<dyn EventListener>>,
    capture: PayloadCapture,
    policy: RunPolicy,
    settings: ModelSettings,
    stores: StoreRegistry,
    workspace: Option<WorkspaceDescriptor>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
    credentials: Option<Arc<dyn CredentialProvider>>,
    /// The resources, as runs share them.
    grants: Arc<Grants>,
}

impl<S: Send + Sync + 'static, C: Send + Sync + 'static> Default for AgentHarness<S, C> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: Send + Sync + 'static, C: Send + Sync + 'static> AgentHarness<S, C> {
    /// A harness without models and tools.
    pub fn new() -> Self {
        Self {
            models: Vec::new(),
            tools: ToolRegistry::new(),
            tool_sets: Mutex::default(),
            middleware: Vec::new(),
            listeners: Vec::new(),
            capture: PayloadCapture::default(),
            policy: RunPolicy::default(),
            settings: ModelSettings::default(),
            stores: StoreRegistry::new(),
            workspace: None,
            clock: Arc::new(SystemClock::default()),
            ids: Arc::new(RandomIds),
            credentials: None,
            grants: Arc::default(),
        }
    }

    /// Adds a model. A run uses the one named `default`, or else the first, unless its configuration names
    /// another.
    ///
    /// # Errors
    ///
    /// The name is taken.
    pub fn register_model(
        &mut self,
        name: impl Into<String>,
        model: impl Model + 'static,
    ) -> Result<&mut Self> {
        let name = name.into();
        if self.models.iter().any(|(taken, _)| *taken == name) {
            return Err(TinyAgentsError::DuplicateModel(name));
        }
        self.models.push((name, Arc::new(model)));
        Ok(self)
    }

    /// Adds a tool.
    ///
    /// # Errors
    ///
    /// The name or the schema is refused, or the name is taken.
    pub fn register_tool(&mut self, tool: impl Tool<S, C> + 'static) -> Result<&mut Self> {
        self.tools.register(tool)?;
        self.forget_tool_sets();
        Ok(self)
    }

    /// Adds all tools of a set, in its order, or none of them.
    ///
    /// # Errors
    ///
    /// As [`register_tool`](Self::register_tool), for the first tool that is refused.
    pub fn register_tools(&mut self, tools: Toolset<S, C>) -> Result<&mut Self> {
        self.tools.register_all(tools)?;
        self.forget_tool_sets();
        Ok(self)
    }

    /// Shows a tool under another name to one provider; see [`ToolRegistry::alias`].
    ///
    /// # Errors
    ///
    /// The tool does not exist, or the alias is taken.
    pub fn alias_tool(
        &mut self,
        provider: &str,
        tool: &str,
        alias: &str,
    ) -> Result<&mut Self, RegistryError> {
        self.tools.alias(provider, tool, alias)?;
        self.forget_tool_sets();
        Ok(self)
    }

    /// Adds a hook.
    pub fn with_middleware(&mut self, middleware: impl Middleware<S, C> + 'static) -> &mut Self {
        self.middleware.push(Arc::new(middleware));
        self
    }

    /// Adds a listener for the events of every run.
    pub fn with_listener(&mut self, listener: impl EventListener + 'static) -> &mut Self {
        self.listeners.push(Arc::new(listener));
        self
    }

    /// Says whether events carry arguments and results. They do not by default.
    pub fn with_payload_capture(&mut self, capture: PayloadCapture) -> &mut Self {
        self.capture = capture;
        self
    }

    /// Sets how runs go on when a call cannot, and how much they may use.
    pub fn with_policy(&mut self, policy: RunPolicy) -> &mut Self {
        self.policy = policy;
        self
    }

    /// Sets what the model is asked with.
    pub fn with_settings(&mut self, settings: ModelSettings) -> &mut Self {
        self.settings = settings;
        self
    }

    /// Sets the standing instructions.
    pub fn with_system(&mut self, text: impl Into<String>) -> &mut Self {
        self.settings.system = Some(text.into());
        self
    }

    /// Sets the stores that tools use.
    pub fn with_stores(&mut self, stores: StoreRegistry) -> &mut Self {
        self.stores = stores;
        self
    }

    /// Sets where the credentials come from that tools inject: `#[inject("GITHUB_TOKEN")] token: Secret<String>`.
    pub fn with_credentials(&mut self, credentials: impl CredentialProvider + 'static) -> &mut Self {
        self.credentials = Some(Arc::new(credentials));
        self
    }

    /// Adds a value that tools inject by its type: `#[inject] db: Resource<Db>`. One of the same type is replaced.
    pub fn with_resource<T: Send + Sync + 'static>(&mut self, resource: T) -> &mut Self {
        let mut resources = self.grants.resources.clone();
        resources.insert(resource);
        self.grants = Arc::new(Grants { resources, ..Grants::default() });
        self
    }

    /// Sets where tools may work.
    pub fn with_workspace(&mut self, workspace: WorkspaceDescriptor) -> &mut Self {
        self.workspace = Some(workspace);
        self
    }

    /// Sets the clock of events and durations, for transcripts that repeat byte for byte.
    pub fn with_clock(&mut self, clock: impl Clock + 'static) -> &mut Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Sets the source of fresh ids.
    pub fn with_ids(&mut self, ids: impl IdSource + 'static) -> &mut Self {
        self.ids = Arc::new(ids);
        self
    }

    /// The registered tools.
    pub fn tools(&self) -> &ToolRegistry<S, C> {
        &self.tools
    }

    /// A context for a run of this harness: as [`RunContext::new`], with an id from the harness's source.
    pub fn context(&self, config: RunConfig, data: C) -> RunContext<C> {
        RunContext::with_ids(config, data, &*self.ids)
    }

    /// Runs the loop until the model answers.
    ///
    /// # Errors
    ///
    /// The run could not start, the model did not reply, or the policy ended the run. A conversation that is not
    /// whole is refused: `History::repair` mends one. A run that was cancelled is no error: see [`AgentRun::finish`].
    pub async fn invoke(&self, state: impl Into<Shared<S>>, messages: Vec<Message>) -> Result<AgentRun>
    where
        C: Default,
    {
        self.invoke_in_context(state, self.context(RunConfig::default(), C::default()), messages).await
    }

    /// Runs the loop in a context, whose [`handle`](RunContext::handle) steers the run and keeps its transcript.
    ///
    /// # Errors
    ///
    /// As [`invoke`](Self::invoke).
    pub async fn invoke_in_context(
        &self,
        state: impl Into<Shared<S>>,
        ctx: RunContext<C>,
        messages: Vec<Message>,
    ) -> Result<AgentRun> {
        let model = self.model(ctx.config().model.as_deref())?;
        self.set_up(state.into(), ctx, model.provider(), None).run(model, messages).await
    }

    /// Takes one call through everything that a call of a model goes through: hooks, validation, policy, time and
    /// output bounds. No model is asked.
    pub async fn call_tool(
        &self,
        state: impl Into<Shared<S>>,
        ctx: RunContext<C>,
        call: ToolCall,
    ) -> ToolResult {
        self.set_up(state.into(), ctx, "", None).executor().one_call(call).await
    }

    /// Runs the loop as a stream of its events. The run goes on only while the stream is polled, and is dropped
    /// with it.
    ///
    /// # Errors
    ///
    /// The run could not start.
    pub fn invoke_stream(
        &self,
        state: impl Into<Shared<S>>,
        ctx: RunContext<C>,
        messages: Vec<Message>,
    ) -> Result<RunStream> {
        let handle = ctx.handle();
        let (listener, events) = RunStream::channel();
        let model = self.model(ctx.config().model.as_deref())?;
        let setup = self.set_up(state.into(), ctx, model.provider(), Some(listener));
        Ok(RunStream::new(handle, events, Box::pin(setup.run(model, messages))))
    }

    fn set_up(
        &self,
        state: Shared<S>,
        ctx: RunContext<C>,
        provider: &str,
        stream: Option<Arc<dyn EventListener>>,
    ) -> RunSetup<S, C> {
        let listeners = self.listeners.iter().cloned().chain(stream).collect();
        RunSetup {
            tools: self.tool_set(provider),
            state: state.0,
            ctx,
            middleware: self.middleware.clone(),
            listeners,
            capture: self.capture,
            policy: self.policy.clone(),
            settings: self.settings.clone(),
            stores: self.stores.clone(),
            workspace: self.workspace.clone(),
            clock: Arc::clone(&self.clock),
            ids: Arc::clone(&self.ids),
            credentials: self.credentials.clone(),
            grants: Arc::clone(&self.grants),
        }
    }

    fn model(&self, name: Option<&str>) -> Result<Arc<dyn Model>> {
        let named = |wanted: &str| self.models.iter().find(|(name, _)| name == wanted);
        let found = match name {
            Some(name) => named(name),
            None => named("default").or(self.models.first()),
        };
        let missing = || TinyAgentsError::ModelNotFound(name.unwrap_or("default").to_string());
        found.map(|(_, model)| Arc::clone(model)).ok_or_else(missing)
    }

    /// What a provider is shown: worked out once per provider, not once per run.
    fn tool_set(&self, provider: &str) -> Arc<ToolSet<S, C>> {
        let mut sets = self.tool_sets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(set) = sets.get(provider) {
            return Arc::clone(set);
        }
        let set = Arc::new(self.tools.tool_set(provider));
        sets.insert(provider.to_string(), Arc::clone(&set));
        set
    }

    fn forget_tool_sets(&mut self) {
        self.tool_sets.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
