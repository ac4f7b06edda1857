//! Runs within runs: an agent as a tool of another one.
//!
//! Guarantee: a nested run keeps within what surrounds it. Its tools are some of the outer run's, its limits and its
//! time are part of the outer run's, it works in the same workspace, its hooks, approver and listeners are the same,
//! and it ends when its call does.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Weak};

use async_trait::async_trait;
use serde_json::json;
use tokio::sync::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::agent_loop::{Around, RunSetup};
use super::parts::Parts;
use super::{AgentRun, RunFinish};
use crate::harness::context::{RunConfig, RunContext, RunControl, RunLimits, RunPolicy};
use crate::harness::event::EventListener;
use crate::harness::executor::{Budget, CLOSING, Tree};
use crate::harness::message::Message;
use crate::harness::model::Model;
use crate::harness::policy::ToolPolicy;
use crate::harness::tool::{
    Inject, InjectContext, Provided, RegistryError, Tool, ToolCall, ToolError, ToolOutput, ToolResult,
    ToolRuntime, ToolSet, ToolSpec,
};
use crate::{Result, TinyAgentsError};

/// An agent that runs within another one's run.
///
/// Everything that is not set is the outer run's: the settings, the tools, the limits. The model is then the harness's
/// default one.
#[derive(Debug, Clone, Default)]
pub struct SubAgent {
    name: String,
    description: String,
    model: Option<String>,
    system: Option<String>,
    tools: Option<Vec<String>>,
    reads_only: bool,
    limits: Option<RunLimits>,
}

impl SubAgent {
    /// An agent with a name, and a description for the model that is to call it.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self { name: name.into(), description: description.into(), ..Self::default() }
    }

    /// Has the agent use a registered model of this name.
    pub fn with_model(mut self, name: impl Into<String>) -> Self {
        self.model = Some(name.into());
        self
    }

    /// Sets the agent's standing instructions.
    pub fn with_system(mut self, text: impl Into<String>) -> Self {
        self.system = Some(text.into());
        self
    }

    /// Leaves the agent only these tools of the outer run, by their canonical names.
    pub fn with_tools<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.tools = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Leaves the agent only tools that read. Its calls then run beside other calls that read.
    pub fn reads_only(mut self) -> Self {
        self.reads_only = true;
        self
    }

    /// Sets the agent's own limits. What it uses counts for the outer run as well, so that one's limits hold too.
    pub fn with_limits(mut self, limits: RunLimits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// The tool by which a model calls the agent: it takes a `task` and gives the agent's answer.
    ///
    /// ```
    /// use tinyagents::prelude::*;
    /// use tinyagents::testkit::ScriptedModel;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> tinyagents::Result<()> {
    /// let explorer = SubAgent::new("explore", "Explore a question and report.").with_model("small").reads_only();
    /// let mut harness: AgentHarness<()> = AgentHarness::new();
    /// harness.register_model(
    ///     "default",
    ///     ScriptedModel::new().call("explore", json!({ "task": "What is there?" })).text("There is tea."),
    /// )?;
    /// harness.register_model("small", ScriptedModel::new().text("I found tea."))?;
    /// harness.register_tool(explorer.into_tool())?;
    /// let run = harness.invoke(&(), vec![Message::user("What is there?")]).await?;
    /// assert_eq!(run.messages[2].text(), "I found tea.");
    /// # Ok(())
    /// # }
    /// ```
    pub fn into_tool(self) -> SubAgentTool {
        SubAgentTool(self)
    }
}

/// An agent as a tool of another one, from [`SubAgent::into_tool`].
#[derive(Debug, Clone)]
pub struct SubAgentTool(SubAgent);

#[async_trait]
impl<S: Send + Sync + 'static, C: Send + Sync + 'static> Tool<S, C> for SubAgentTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new(
            self.0.name.as_str(),
            self.0.description.as_str(),
            json!({
                "type": "object",
                "properties": {
                    "task": { "type": "string", "description": "What to do, with everything that must be known for it." }
                },
                "required": ["task"],
                "additionalProperties": false
            }),
        )
    }

    /// What the agent does, its tools do, and each of them is asked for its own policy.
    fn policy(&self) -> ToolPolicy {
        if self.0.reads_only { ToolPolicy::read_only() } else { ToolPolicy::classified() }
    }

    fn is_recursive(&self) -> bool {
        true
    }

    async fn call(&self, _: &S, runtime: ToolRuntime<'_, C>, call: ToolCall) -> Result<ToolResult> {
        let name = &self.0.name;
        let task = call.arguments.get("task").and_then(|task| task.as_str()).unwrap_or_default();
        let run = ChildRuns::of(&runtime)?.run(&self.0, vec![Message::user(task)]).await;
        let run = match run {
            Ok(run) => run,
            // Who stops a call, stops the whole.
            Err(stopped @ TinyAgentsError::Stopped(_)) => return Err(stopped),
            Err(error) => return Err(ToolError::failed(format!("the agent `{name}` failed: {error}")).into()),
        };
        let words = run.messages.iter().rev().find_map(Message::as_assistant);
        let words = words.map(|reply| crate::harness::message::text_of(&reply.content)).unwrap_or_default();
        match run.finish {
            RunFinish::Completed => Ok(ToolOutput::text(run.answer().unwrap_or(words)).into_result(&call)),
            finish => {
                let so_far =
                    if words.is_empty() { String::new() } else { format!("; its last words: {words}") };
                Err(ToolError::failed(format!("the agent `{name}` did not finish: {finish}{so_far}")).into())
            }
        }
    }
}

/// Starts nested runs; only a tool that declares `recursive` gets it: `#[inject] runs: ChildRuns`.
///
/// One run at a time: several at once are several calls. A run ends with the call that started it.
#[derive(Clone)]
pub struct ChildRuns {
    starter: Arc<dyn StartRun>,
    place: Place,
    one: Arc<Mutex<()>>,
}

/// Where nested runs are started from.
#[derive(Debug, Clone)]
struct Place {
    cancellation: CancellationToken,
    deadline: Instant,
    reads_only: bool,
    /// Gone when the call has ended.
    permits: Weak<dyn Any + Send + Sync>,
}

impl ChildRuns {
    /// What a call that is admitted as recursive may start runs with.
    ///
    /// # Errors
    ///
    /// The tool does not say that it is recursive.
    pub fn of<Ctx>(runtime: &ToolRuntime<'_, Ctx>) -> Result<Self, ToolError> {
        let scope = runtime.scope;
        let nested = scope.nested.as_ref();
        let seat = nested.and_then(|nested| Some((nested.seat.downcast_ref::<Seat>()?, nested)));
        let Some((seat, nested)) = seat else {
            return Err(ToolError::fatal(
                "only a recursive tool may start runs: return `true` from `Tool::is_recursive`",
            ));
        };
        let place = Place {
            cancellation: runtime.cancellation.clone(),
            deadline: scope.deadline,
            reads_only: scope.reads_only,
            permits: Weak::clone(&nested.permits),
        };
        Ok(Self { starter: Arc::clone(&seat.0), place, one: Arc::clone(&nested.one) })
    }

    /// Runs an agent until it ends.
    ///
    /// # Errors
    ///
    /// As `AgentHarness::invoke`; the agent is to have a tool that the outer run does not have; the call has ended.
    pub async fn run(&self, agent: &SubAgent, messages: Vec<Message>) -> Result<AgentRun> {
        let _one = self.one.lock().await;
        // The run counts as long as it lives, even if the call's body does not wait for it.
        let Some(_permits) = self.place.permits.upgrade() else {
            return Err(ToolError::failed("the call that could start runs has ended").into());
        };
        self.starter.start(agent, &self.place, messages).await
    }
}

impl fmt::Debug for ChildRuns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChildRuns").field("place", &self.place).finish_non_exhaustive()
    }
}

impl<State, Ctx> Inject<State, Ctx> for ChildRuns {
    fn inject(cx: &InjectContext<'_, State, Ctx>) -> Result<Self, ToolError> {
        Self::of(cx.runtime)
    }
}

/// What the executor hands on to recursive tools without knowing its type.
struct Seat(Arc<dyn StartRun>);

pub(super) fn seat<S: Send + Sync + 'static, C: Send + Sync + 'static>(
    starter: Starter<S, C>,
) -> Arc<dyn Any + Send + Sync> {
    Arc::new(Seat(Arc::new(starter)))
}

type Started<'a> = Pin<Box<dyn Future<Output = Result<AgentRun>> + Send + 'a>>;

trait StartRun: Send + Sync {
    fn start<'a>(&'a self, agent: &'a SubAgent, place: &'a Place, messages: Vec<Message>) -> Started<'a>;
}

/// What a run gives to the runs within it.
pub(super) struct Starter<S: Send + Sync, C: Send + Sync> {
    pub(super) parts: Arc<Parts<S, C>>,
    pub(super) state: Arc<S>,
    pub(super) ctx: Arc<RunContext<C>>,
    pub(super) tools: Arc<ToolSet<S, C>>,
    pub(super) listeners: Vec<Arc<dyn EventListener>>,
    pub(super) policy: RunPolicy,
    pub(super) budget: Arc<Budget>,
    pub(super) tree: Arc<Tree>,
    pub(super) provided: Arc<Provided>,
}

impl<S: Send + Sync + 'static, C: Send + Sync + 'static> StartRun for Starter<S, C> {
    fn start<'a>(&'a self, agent: &'a SubAgent, place: &'a Place, messages: Vec<Message>) -> Started<'a> {
        Box::pin(async move {
            let model = self.parts.model(agent.model.as_deref())?;
            let tools = self.tools_for(agent, place, &*model)?;
            let setup = RunSetup {
                parts: Arc::clone(&self.parts),
                state: Arc::clone(&self.state),
                ctx: self.context_for(agent, place),
                tools,
                listeners: self.listeners.clone(),
                policy: self.policy.clone(),
                tree: Arc::clone(&self.tree),
                provided: Arc::clone(&self.provided),
                around: Some(Around {
                    budget: Arc::clone(&self.budget),
                    deadline: place.deadline.checked_sub(CLOSING).unwrap_or(place.deadline),
                    reads_only: place.reads_only || agent.reads_only,
                }),
            };
            setup.run(model, messages).await
        })
    }
}

impl<S: Send + Sync + 'static, C: Send + Sync + 'static> Starter<S, C> {
    /// The tools of the outer run that the agent is left.
    fn tools_for(&self, agent: &SubAgent, place: &Place, model: &dyn Model) -> Result<Arc<ToolSet<S, C>>> {
        if let Some(unknown) = agent.tools.iter().flatten().find(|name| self.tools.get(name).is_none()) {
            return Err(RegistryError::NoSuchTool(unknown.clone()).into());
        }
        let reads_only = place.reads_only || agent.reads_only;
        let keeps =
            |name: &str| agent.tools.as_ref().is_none_or(|names| names.iter().any(|kept| kept == name));
        let shown = self.parts.tool_set(model.provider(), &model.dialect());
        Ok(Arc::new(shown.narrowed(|tool| {
            let name = tool.spec.name.as_str();
            self.tools.get(name).is_some() && keeps(name) && (!reads_only || tool.policy.is_read_only())
        })))
    }

    fn context_for(&self, agent: &SubAgent, place: &Place) -> RunContext<C> {
        let outer = self.ctx.config();
        let mut settings = outer.settings.clone().unwrap_or_else(|| self.parts.settings.clone());
        settings.system = agent.system.clone().or(settings.system);
        let mut limits = agent.limits.clone().unwrap_or_else(|| self.policy.limits.clone());
        limits.max_depth = limits.max_depth.min(self.policy.limits.max_depth);
        let config = RunConfig {
            run_id: None,
            thread_id: outer.thread_id.clone(),
            parent_run_id: Some(self.ctx.run_id().clone()),
            model: agent.model.clone(),
            depth: outer.depth + 1,
            settings: Some(settings),
            limits: Some(limits),
            workspace: self.ctx.workspace().cloned(),
            tags: outer.tags.clone(),
            metadata: outer.metadata.clone(),
        };
        RunContext::within(&self.ctx, config, RunControl::within(&place.cancellation), &*self.parts.ids)
    }
}
