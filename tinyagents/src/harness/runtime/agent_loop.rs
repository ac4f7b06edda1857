//! One run, from its messages to its end.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use tokio::time::Instant;

use super::{AgentRun, RunFinish};
use crate::harness::context::{LimitBehavior, LimitKind, RunBinding, RunContext, RunControl, RunPolicy};
use crate::harness::credential::CredentialProvider;
use crate::harness::event::{AgentEvent, EventListener, EventSink, PayloadCapture, RunScope};
use crate::harness::executor::{Budget, Ending, Executor, caught, fill_ids};
use crate::harness::message::{History, Message};
use crate::harness::middleware::Middleware;
use crate::harness::model::{
    DeltaSink, FinishReason, Model, ModelError, ModelReply, ModelRequest, ModelSettings, ToolChoice, Usage,
};
use crate::harness::source::{Clock, IdSource};
use crate::harness::store::StoreRegistry;
use crate::harness::tool::{Grants, ToolSchema, ToolSet};
use crate::harness::workspace::WorkspaceDescriptor;
use crate::{Result, TinyAgentsError};

/// What a run takes from its harness.
pub(super) struct RunSetup<S: Send + Sync, C: Send + Sync> {
    pub(super) state: Arc<S>,
    pub(super) ctx: RunContext<C>,
    pub(super) tools: Arc<ToolSet<S, C>>,
    pub(super) middleware: Vec<Arc<dyn Middleware<S, C>>>,
    pub(super) listeners: Vec<Arc<dyn EventListener>>,
    pub(super) capture: PayloadCapture,
    pub(super) policy: RunPolicy,
    pub(super) settings: ModelSettings,
    pub(super) stores: StoreRegistry,
    pub(super) workspace: Option<WorkspaceDescriptor>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) ids: Arc<dyn IdSource>,
    pub(super) credentials: Option<Arc<dyn CredentialProvider>>,
    pub(super) grants: Arc<Grants>,
}

impl<S: Send + Sync + 'static, C: Send + Sync + 'static> RunSetup<S, C> {
    /// Runs until the run ends.
    pub(super) async fn run(self, model: Arc<dyn Model>, messages: Vec<Message>) -> Result<AgentRun> {
        let history = History::from_messages(messages)?;
        let settings = self.ctx.config().settings.clone().unwrap_or_else(|| self.settings.clone());
        let ids = Arc::clone(&self.ids);
        let executor = self.executor();
        executor.ctx.control().with_history(|slot| *slot = history);
        let limits = &executor.policy.limits;
        let mut agent_loop = AgentLoop {
            model,
            settings,
            ids,
            model_calls: limits.max_model_calls,
            behavior: limits.behavior,
            turn: 0,
            usage: Usage::default(),
            model_finish: None,
            executor,
        };
        agent_loop.run().await
    }

    /// What runs the calls.
    pub(super) fn executor(mut self) -> Executor<S, C> {
        if let Some(limits) = &self.ctx.config().limits {
            self.policy.limits = limits.clone();
        }
        let events = EventSink::new(RunScope {
            run_id: self.ctx.run_id().clone(),
            parent_run_id: self.ctx.parent_run_id().cloned(),
            root_run_id: self.ctx.root_run_id().clone(),
            listeners: self.listeners,
            capture: self.capture,
            clock: Arc::clone(&self.clock),
            offset: AtomicU64::new(0),
        });
        let limits = &self.policy.limits;
        let now = Instant::now();
        // A duration that no clock can reach is no limit; thirty years stand for it.
        let forever = Duration::from_secs(30 * 365 * 24 * 3600);
        let deadline = now.checked_add(limits.max_duration.min(forever)).unwrap_or(now);
        Executor {
            state: self.state,
            ctx: Arc::new(self.ctx.bind(RunBinding { events, workspace: self.workspace })),
            tools: self.tools,
            middleware: self.middleware,
            stores: self.stores,
            clock: self.clock,
            budget: Budget { tool_calls: limits.max_tool_calls, deadline },
            policy: self.policy,
            credentials: self.credentials,
            grants: self.grants,
        }
    }
}

struct AgentLoop<S: Send + Sync, C: Send + Sync> {
    model: Arc<dyn Model>,
    settings: ModelSettings,
    ids: Arc<dyn IdSource>,
    model_calls: u32,
    behavior: LimitBehavior,
    turn: u32,
    usage: Usage,
    model_finish: Option<FinishReason>,
    executor: Executor<S, C>,
}

/// Closes the queue of messages, also when the run's future is dropped: what is queued later would be lost.
struct EndOnDrop<'a>(&'a RunControl);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// What the model is asked next, or why it is not.
enum Asked {
    Replied(Box<ModelReply>, Arc<Vec<ToolSchema>>),
    Finished(RunFinish),
}

impl<S: Send + Sync + 'static, C: Send + Sync + 'static> AgentLoop<S, C> {
    async fn run(&mut self) -> Result<AgentRun> {
        let ctx = Arc::clone(&self.executor.ctx);
        let events = ctx.events();
        events.emit_with(|| AgentEvent::RunStarted { thread_id: ctx.thread_id().cloned() });
        let over = EndOnDrop(ctx.control());
        let ended = self.turns(events).await;
        drop(over);
        match ended {
            Ok(finish) => {
                events.emit_with(|| AgentEvent::RunCompleted { finish: finish.to_string() });
                let messages = ctx.control().with_history(|history| Arc::clone(history.messages()));
                let messages = Arc::unwrap_or_clone(messages);
                let model_finish = self.model_finish.take();
                Ok(AgentRun {
                    run_id: ctx.run_id().clone(),
                    messages,
                    finish,
                    model_finish,
                    usage: self.usage,
                })
            }
            Err(error) => {
                events.emit_with(|| AgentEvent::RunFailed { error: error.to_string() });
                Err(error)
            }
        }
    }

    async fn turns(&mut self, events: &EventSink) -> Result<RunFinish> {
        let ctx = Arc::clone(&self.executor.ctx);
        let tools = Arc::clone(&self.executor.tools);
        let cancellation = ctx.control().cancellation.clone();
        let provided = tokio::select! {
            biased;
            provided = self.executor.provide(tools.all()) => provided,
            () = cancellation.cancelled() => return Ok(RunFinish::Cancelled),
        };
        match provided {
            Err(TinyAgentsError::LimitReached(limit)) => return self.limit(limit),
            provided => provided?,
        }
        loop {
            for message in ctx.control().take_queued() {
                ctx.control().with_history(|history| history.push(message));
                events.at_turn(self.turn).emit(AgentEvent::MessageQueued {});
            }
            let (reply, advertised) = match self.ask(events).await? {
                Asked::Replied(reply, advertised) => (*reply, advertised),
                Asked::Finished(finish) => return Ok(finish),
            };
            if reply.message.tool_calls.is_empty() {
                ctx.control().with_history(|history| history.push_reply(reply.message))?;
                // What was queued meanwhile keeps the run going; from here on nothing more can be.
                if ctx.control().end_if_idle() {
                    return Ok(RunFinish::Completed);
                }
                continue;
            }
            if let ToolChoice::Required | ToolChoice::Named(_) = self.settings.tool_choice {
                self.settings.tool_choice = ToolChoice::Auto;
            }
            let turn = self.executor.turn(self.turn, reply.message, &advertised).await?;
            ctx.control().with_history(|history| history.close(turn.closed));
            ctx.apply_updates();
            match turn.ending {
                Some(Ending::Error(error)) => return Err(error),
                Some(Ending::Limit(limit)) => return self.limit(limit),
                // As an answer of the model's: what was queued meanwhile keeps the run going.
                Some(Ending::Answer) if ctx.control().end_if_idle() => return Ok(RunFinish::Completed),
                Some(Ending::Answer) | None => {}
            }
        }
    }

    /// Why the model must not be asked again, if that is so. Otherwise takes a slot of its budget.
    fn spent(&mut self) -> Option<LimitKind> {
        let executor = &self.executor;
        if executor.ctx.config().depth > executor.policy.limits.max_depth {
            return Some(LimitKind::Depth);
        }
        if Instant::now() >= executor.budget.deadline {
            return Some(LimitKind::Duration);
        }
        match self.model_calls.checked_sub(1) {
            Some(left) => self.model_calls = left,
            None => return Some(LimitKind::ModelCalls),
        }
        None
    }

    /// Asks the model, unless the run is over.
    async fn ask(&mut self, events: &EventSink) -> Result<Asked> {
        let ctx = Arc::clone(&self.executor.ctx);
        let cancellation = &ctx.control().cancellation;
        if cancellation.is_cancelled() {
            return Ok(Asked::Finished(RunFinish::Cancelled));
        }
        if let Some(limit) = self.spent() {
            return self.limit(limit).map(Asked::Finished);
        }
        self.turn += 1;
        let events = events.at_turn(self.turn);
        let mut request = ModelRequest {
            messages: ctx.control().with_history(|history| Arc::clone(history.messages())),
            tools: Arc::clone(&self.executor.tools.schemas),
            aliases: Arc::clone(&self.executor.tools.aliases),
            settings: self.settings.clone(),
        };
        for hook in &self.executor.middleware {
            hook.before_model(&ctx, &mut request).await?;
        }
        events.emit_with(|| AgentEvent::ModelStarted {
            model: self.model.name().into(),
            tools: request.tools.len(),
        });
        let on_text = |text: &str| events.emit_with(|| AgentEvent::ModelDelta { text: text.into() });
        let deltas = DeltaSink::new(&on_text);
        let mut reply = tokio::select! {
            biased;
            reply = caught("the model", self.model.generate(&request, &deltas)) => {
                reply.map_err(ModelError::Other)??
            }
            () = cancellation.cancelled() => return Ok(Asked::Finished(RunFinish::Cancelled)),
            () = tokio::time::sleep_until(self.executor.budget.deadline) => {
                return self.limit(LimitKind::Duration).map(Asked::Finished);
            }
        };
        for hook in self.executor.middleware.iter().rev() {
            hook.after_model(&ctx, &mut reply).await?;
        }
        self.usage += reply.usage;
        self.model_finish = Some(reply.finish.clone());
        events.emit_with(|| AgentEvent::ModelCompleted {
            tool_calls: reply.message.tool_calls.len(),
            finish: reply.finish.to_string(),
            input_tokens: reply.usage.input_tokens,
            output_tokens: reply.usage.output_tokens,
        });
        self.canonical(&mut reply);
        Ok(Asked::Replied(Box::new(reply), request.tools))
    }

    /// Gives calls ids of their own and the tools' canonical names.
    fn canonical(&self, reply: &mut ModelReply) {
        fill_ids(&mut reply.message, self.turn, &*self.ids);
        let control = self.executor.ctx.control();
        control.with_history(|history| history.tell_apart(&mut reply.message));
        for call in &mut reply.message.tool_calls {
            if let Some(name) = self.executor.tools.canonical(&call.name) {
                if call.name != name.as_str() {
                    call.name = name.to_string();
                }
            }
        }
    }

    fn limit(&self, limit: LimitKind) -> Result<RunFinish> {
        match self.behavior {
            LimitBehavior::Error => Err(TinyAgentsError::LimitReached(limit)),
            LimitBehavior::StopWithPartial => Ok(RunFinish::LimitReached(limit)),
        }
    }
}
