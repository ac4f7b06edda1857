//! The harness: models, tools, hooks, and the rules of a run.

use std::sync::Arc;

use super::agent_loop::RunSetup;
use super::parts::Parts;
use super::{AgentRun, Explanation, RunPolicy, RunStream};
use crate::harness::context::{RunConfig, RunContext};
use crate::harness::credential::CredentialProvider;
use crate::harness::event::{EventListener, PayloadCapture};
use crate::harness::executor::{Broker, ExecutorBounds, Tree, ZeroBound};
use crate::harness::message::{Message, ToolCall};
use crate::harness::middleware::Middleware;
use crate::harness::model::{Model, ModelSettings};
use crate::harness::policy::Approver;
use crate::harness::source::{Clock, IdSource};
use crate::harness::store::StoreRegistry;
use crate::harness::tool::dialect::SchemaDialect;
use crate::harness::tool::{Provided, RegistryError, Shared, Tool, ToolRegistry, ToolResult, Toolset};
use crate::harness::workspace::WorkspaceDescriptor;
use crate::{Result, TinyAgentsError};

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
    parts: Arc<Parts<State, Ctx>>,
}

impl<S: Send + Sync + 'static, C: Send + Sync + 'static> Default for AgentHarness<S, C> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: Send + Sync + 'static, C: Send + Sync + 'static> AgentHarness<S, C> {
    /// A harness without models and tools.
    pub fn new() -> Self {
        Self { parts: Arc::new(Parts::new()) }
    }

    /// The parts, to be changed: runs that go on keep those they began with.
    fn parts(&mut self) -> &mut Parts<S, C> {
        Arc::make_mut(&mut self.parts)
    }

    /// The tools, to be changed: what providers are shown is worked out anew.
    fn tools_mut(&mut self) -> &mut ToolRegistry<S, C> {
        let parts = self.parts();
        parts.tool_sets = Arc::default();
        &mut parts.tools
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
        if self.parts.models.iter().any(|(taken, _)| *taken == name) {
            return Err(TinyAgentsError::DuplicateModel(name));
        }
        self.parts().models.push((name, Arc::new(model)));
        Ok(self)
    }

    /// Adds a tool.
    ///
    /// # Errors
    ///
    /// The name or the schema is refused, or the name is taken.
    pub fn register_tool(&mut self, tool: impl Tool<S, C> + 'static) -> Result<&mut Self> {
        self.tools_mut().register(tool)?;
        Ok(self)
    }

    /// Adds a tool that another program named and described, such as one of an MCP server; see
    /// [`ToolRegistry::register_external`].
    ///
    /// # Errors
    ///
    /// The name or the schema is refused, or the name is taken.
    pub fn register_external(&mut self, tool: impl Tool<S, C> + 'static) -> Result<&mut Self> {
        self.tools_mut().register_external(tool)?;
        Ok(self)
    }

    /// Adds all tools of a set, in its order, or none of them.
    ///
    /// # Errors
    ///
    /// As [`register_tool`](Self::register_tool), for the first tool that is refused.
    pub fn register_tools(&mut self, tools: Toolset<S, C>) -> Result<&mut Self> {
        self.tools_mut().register_all(tools)?;
        Ok(self)
    }

    /// Shows a tool under another name to one provider; see [`ToolRegistry::alias`].
    ///
    /// # Errors
    ///
    /// The tool does not exist, the provider is known not to take the alias, or the alias is taken.
    pub fn alias_tool(
        &mut self,
        provider: &str,
        tool: &str,
        alias: &str,
    ) -> Result<&mut Self, RegistryError> {
        self.tools_mut().alias(provider, tool, alias)?;
        Ok(self)
    }

    /// Lets calls of a tool that may change something run beside each other, up to
    /// [`ExecutorBounds::max_concurrent_mutations`]. Without it such a call runs alone. Only the application knows
    /// whether its tools get into each other's way.
    ///
    /// # Errors
    ///
    /// The tool does not exist.
    pub fn promote(&mut self, tool: &str) -> Result<&mut Self, RegistryError> {
        self.tools_mut().promote(tool)?;
        Ok(self)
    }

    /// Adds a hook.
    pub fn with_middleware(&mut self, middleware: impl Middleware<S, C> + 'static) -> &mut Self {
        self.parts().middleware.push(Arc::new(middleware));
        self
    }

    /// Adds a listener for the events of every run.
    pub fn with_listener(&mut self, listener: impl EventListener + 'static) -> &mut Self {
        self.parts().listeners.push(Arc::new(listener));
        self
    }

    /// Says whether events carry arguments and results. They do not by default.
    pub fn with_payload_capture(&mut self, capture: PayloadCapture) -> &mut Self {
        self.parts().capture = capture;
        self
    }

    /// Sets how runs go on when a call cannot, and how much they may use.
    pub fn with_policy(&mut self, policy: RunPolicy) -> &mut Self {
        self.parts().policy = policy;
        self
    }

    /// Sets how much may run at once, in each run and in the runs that its tools start.
    ///
    /// # Errors
    ///
    /// A bound is zero.
    pub fn with_bounds(&mut self, bounds: ExecutorBounds) -> Result<&mut Self, ZeroBound> {
        bounds.check()?;
        self.parts().bounds = bounds;
        Ok(self)
    }

    /// Sets who is asked whether a call may run that needs an approval. Without one such a call is refused.
    pub fn with_approver(&mut self, approver: impl Approver + 'static) -> &mut Self {
        self.parts().approver = Some(Broker::new(Arc::new(approver)));
        self
    }

    /// Sets what the model is asked with.
    pub fn with_settings(&mut self, settings: ModelSettings) -> &mut Self {
        self.parts().settings = settings;
        self
    }

    /// Sets the standing instructions.
    pub fn with_system(&mut self, text: impl Into<String>) -> &mut Self {
        self.parts().settings.system = Some(text.into());
        self
    }

    /// Sets the stores that tools use.
    pub fn with_stores(&mut self, stores: StoreRegistry) -> &mut Self {
        self.parts().stores = stores;
        self
    }

    /// Sets where the credentials come from that tools inject: `#[inject("GITHUB_TOKEN")] token: Secret<String>`.
    pub fn with_credentials(&mut self, credentials: impl CredentialProvider + 'static) -> &mut Self {
        self.parts().credentials = Some(Arc::new(credentials));
        self
    }

    /// Adds a value that tools inject by its type: `#[inject] db: Resource<Db>`. One of the same type is replaced.
    pub fn with_resource<T: Send + Sync + 'static>(&mut self, resource: T) -> &mut Self {
        let mut resources = self.parts.provided.resources.clone();
        resources.insert(resource);
        self.parts().provided = Arc::new(Provided { resources, ..Provided::default() });
        self
    }

    /// Sets where tools may work.
    pub fn with_workspace(&mut self, workspace: WorkspaceDescriptor) -> &mut Self {
        self.parts().workspace = Some(workspace);
        self
    }

    /// Sets the clock of events and durations, for transcripts that repeat byte for byte.
    pub fn with_clock(&mut self, clock: impl Clock + 'static) -> &mut Self {
        self.parts().clock = Arc::new(clock);
        self
    }

    /// Sets the source of fresh ids.
    pub fn with_ids(&mut self, ids: impl IdSource + 'static) -> &mut Self {
        self.parts().ids = Arc::new(ids);
        self
    }

    /// The registered tools.
    pub fn tools(&self) -> &ToolRegistry<S, C> {
        &self.parts.tools
    }

    /// What a provider would be shown of the tools, what is lost on the way, and what the rules would decide. Nothing
    /// is called, and no model is asked.
    pub fn explain(&self, dialect: &SchemaDialect) -> Explanation {
        let parts = &self.parts;
        let asks =
            parts.approver.is_some() && !parts.policy.approval_timeout.is_some_and(|time| time.is_zero());
        Explanation::of(&parts.tools, dialect, parts.workspace.as_ref(), asks)
    }

    /// A context for a run of this harness: as [`RunContext::new`], with an id from the harness's source.
    pub fn context(&self, config: RunConfig, data: C) -> RunContext<C> {
        RunContext::with_ids(config, data, &*self.parts.ids)
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
        let model = self.parts.model(ctx.config().model.as_deref())?;
        self.set_up(state.into(), ctx, Some(&*model), None).run(model, messages).await
    }

    /// Takes one call through everything that a call of a model goes through: hooks, validation, policy, time and
    /// output bounds. No model is asked.
    pub async fn call_tool(
        &self,
        state: impl Into<Shared<S>>,
        ctx: RunContext<C>,
        call: ToolCall,
    ) -> ToolResult {
        self.set_up(state.into(), ctx, None, None).executor().one_call(call).await
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
        let model = self.parts.model(ctx.config().model.as_deref())?;
        let setup = self.set_up(state.into(), ctx, Some(&*model), Some(listener));
        Ok(RunStream::new(handle, events, Box::pin(setup.run(model, messages))))
    }

    fn set_up(
        &self,
        state: Shared<S>,
        ctx: RunContext<C>,
        model: Option<&dyn Model>,
        stream: Option<Arc<dyn EventListener>>,
    ) -> RunSetup<S, C> {
        let parts = &self.parts;
        let provider = model.map_or("", |model| model.provider());
        let dialect = model.map_or_else(SchemaDialect::canonical, Model::dialect);
        RunSetup {
            tools: parts.tool_set(provider, &dialect),
            state: state.0,
            ctx,
            listeners: parts.listeners.iter().cloned().chain(stream).collect(),
            policy: parts.policy.clone(),
            tree: Tree::new(parts.bounds.clone()),
            provided: Arc::clone(&parts.provided),
            around: None,
            parts: Arc::clone(parts),
        }
    }
}
