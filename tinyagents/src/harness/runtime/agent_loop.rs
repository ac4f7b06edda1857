//! One run, from its messages to its end.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use tokio::time::Instant;
use tracing::Instrument;

use super::nested::{self, Starter};
use super::parts::Parts;
use super::{AgentRun, RunFinish};
use crate::harness::context::{LimitBehavior, LimitKind, RunBinding, RunContext, RunControl, RunPolicy};
use crate::harness::event::{AgentEvent, EventListener, EventSink, RunScope};
use crate::harness::executor::{Budget, Claim, Ending, Executor, Memory, Tree, caught, echoes, fill_ids};
use crate::harness::id::ThreadId;
use crate::harness::message::{History, Message};
use crate::harness::model::{
    DeltaSink, FinishReason, Model, ModelError, ModelReply, ModelRequest, ModelSettings, ToolChoice,
};
use crate::harness::source::IdSource;
use crate::harness::tool::{Provided, ToolSchema, ToolSet};
use crate::{Result, TinyAgentsError};

/// What a run is started with.
pub(super) struct RunSetup<S: Send + Sync, C: Send + Sync> {
    pub(super) parts: Arc<Parts<S, C>>,
    pub(super) state: Arc<S>,
    pub(super) ctx: RunContext<C>,
    pub(super) tools: Arc<ToolSet<S, C>>,
    pub(super) listeners: Vec<Arc<dyn EventListener>>,
    pub(super) policy: RunPolicy,
    pub(super) tree: Arc<Tree>,
    pub(super) provided: Arc<Provided>,
    /// What a nested run must keep to.
    pub(super) around: Option<Around>,
}

/// What surrounds a nested run.
pub(super) struct Around {
    pub(super) budget: Arc<Budget>,
    /// By when the run must have ended.
    pub(super) deadline: Instant,
    pub(super) reads_only: bool,
}

impl<S: Send + Sync + 'static, C: Send + Sync + 'static> RunSetup<S, C> {
    /// Runs until the run ends.
    pub(super) async fn run(self, model: Arc<dyn Model>, messages: Vec<Message>) -> Result<AgentRun> {
        let history = History::from_messages(messages)?;
        let settings = self.ctx.config().settings.clone().unwrap_or_else(|| self.parts.settings.clone());
        let ids = Arc::clone(&self.parts.ids);
        let nested = self.around.is_some();
        let executor = self.executor();
        executor.ctx.control().with_history(|slot| *slot = history);
        let behavior = executor.policy.limits.behavior;
        let span = tracing::info_span!(
            "invoke_agent",
            gen_ai.operation.name = "invoke_agent",
            gen_ai.request.model = model.name(),
            gen_ai.conversation.id = executor.ctx.thread_id().map(ThreadId::as_str),
        );
        let mut agent_loop =
            AgentLoop { model, settings, ids, behavior, nested, turn: 0, model_finish: None, executor };
        agent_loop.run().instrument(span).await
    }

    /// What runs the calls.
    pub(super) fn executor(mut self) -> Executor<S, C> {
        if let Some(limits) = &self.ctx.config().limits {
            self.policy.limits = limits.clone();
        }
        let parts = &self.parts;
        let events = EventSink::new(RunScope {
            run_id: self.ctx.run_id().clone(),
            parent_run_id: self.ctx.parent_run_id().cloned(),
            root_run_id: self.ctx.root_run_id().clone(),
            listeners: self.listeners.clone(),
            capture: parts.capture,
            clock: Arc::clone(&parts.clock),
            offset: AtomicU64::new(0),
        });
        let limits = &self.policy.limits;
        let now = Instant::now();
        // A duration that no clock can reach is no limit; thirty years stand for it.
        let forever = Duration::from_secs(30 * 365 * 24 * 3600);
        let mut deadline = now.checked_add(limits.max_duration.min(forever)).unwrap_or(now);
        let (mut around, mut reads_only) = (None, false);
        if let Some(outer) = self.around {
            deadline = deadline.min(outer.deadline);
            (around, reads_only) = (Some(outer.budget), outer.reads_only);
        }
        let budget = Budget::new(limits, deadline, around);
        let ctx = Arc::new(self.ctx.bind(RunBinding { events, workspace: parts.workspace.clone() }));
        let nested = self.tools.all().any(|tool| tool.recursive).then(|| {
            nested::seat(Starter {
                parts: Arc::clone(parts),
                state: Arc::clone(&self.state),
                ctx: Arc::clone(&ctx),
                tools: Arc::clone(&self.tools),
                listeners: self.listeners,
                policy: self.policy.clone(),
                budget: Arc::clone(&budget),
                tree: Arc::clone(&self.tree),
                provided: Arc::clone(&self.provided),
            })
        });
        Executor {
            state: self.state,
            ctx,
            tools: self.tools,
            middleware: parts.middleware.clone(),
            stores: parts.stores.clone(),
            clock: Arc::clone(&parts.clock),
            budget,
            policy: self.policy,
            tree: self.tree,
            approver: parts.approver.clone(),
            credentials: parts.credentials.clone(),
            provided: self.provided,
            reads_only,
            nested,
            memory: Memory::default(),
        }
    }
}

struct AgentLoop<S: Send + Sync, C: Send + Sync> {
    model: Arc<dyn Model>,
    settings: ModelSettings,
    ids: Arc<dyn IdSource>,
    behavior: LimitBehavior,
    /// Whether another run surrounds this one; what tools need was asked for there.
    nested: bool,
    turn: u32,
    model_finish: Option<FinishReason>,
    executor: Executor<S, C>,
}

/// Ends a run also when its future is dropped: what is queued later would be lost, and a listener would wait for ever.
struct EndOnDrop<'a> {
    control: &'a RunControl,
    events: &'a EventSink,
    ended: bool,
}

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.control.end();
        if !self.ended {
            self.events
                .emit_with(|| AgentEvent::RunFailed { error: "the run was dropped before its end".into() });
        }
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
        let mut over = EndOnDrop { control: ctx.control(), events, ended: false };
        let ended = self.turns(events).await;
        over.ended = true;
        drop(over);
        match ended {
            Ok(finish) => {
                events.emit_with(|| AgentEvent::RunCompleted { finish: finish.to_string() });
                let model_finish = self.model_finish.take();
                Ok(AgentRun {
                    run_id: ctx.run_id().clone(),
                    messages: ctx.last_transcript(),
                    finish,
                    model_finish,
                    usage: self.executor.budget.usage(),
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
        if !self.nested {
            let provided = tokio::select! {
                biased;
                provided = self.executor.provide(tools.all()) => provided,
                () = cancellation.cancelled() => return Ok(RunFinish::Cancelled),
            };
            match provided {
                Err(TinyAgentsError::LimitReached(limit)) => return self.limit(limit),
                provided => provided?,
            }
        }
        loop {
            for message in ctx.control().take_queued() {
                ctx.control().with_history(|history| history.push(message));
                events.at_turn(self.turn).emit(AgentEvent::MessageQueued {});
            }
            let (mut reply, advertised) = match self.ask(events).await? {
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
            let echoes = self.canonical(&mut reply);
            match self.executor.turn(self.turn, reply.message, &echoes, &advertised).await? {
                Some(Ending::Error(error)) => return Err(error),
                Some(Ending::Limit(limit)) => return self.limit(limit),
                // As an answer of the model's: what was queued meanwhile keeps the run going.
                Some(Ending::Answer) if ctx.control().end_if_idle() => return Ok(RunFinish::Completed),
                Some(Ending::Answer) | None => {}
            }
        }
    }

    /// Why the model must not be asked again, if that is so. Otherwise takes a slot of its budget.
    fn spent(&self) -> Option<LimitKind> {
        let executor = &self.executor;
        if executor.ctx.config().depth > executor.policy.limits.max_depth {
            return Some(LimitKind::Depth);
        }
        if executor.budget.is_over() {
            return Some(LimitKind::Duration);
        }
        executor.budget.take_model_call().err()
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
            adapted: Arc::clone(&self.executor.tools.adapted),
            aliases: Arc::clone(&self.executor.tools.aliases),
            settings: self.settings.clone(),
        };
        for hook in &self.executor.middleware {
            let hooked =
                self.executor.in_time("a hook", async { hook.before_model(&ctx, &mut request).await });
            if let Some(finish) = self.unhooked(hooked.await)? {
                return Ok(Asked::Finished(finish));
            }
        }
        let (dialect, count) = (self.executor.tools.adapted.dialect(), request.tools.len());
        if let Some(most) = dialect.limits.tools.filter(|most| count > *most) {
            return Err(TinyAgentsError::TooManyTools { dialect: dialect.name, most, count });
        }
        events.emit_with(|| AgentEvent::ModelStarted {
            model: self.model.name().into(),
            tools: request.tools.len(),
        });
        let on_text = |text: &str| events.emit_with(|| AgentEvent::ModelDelta { text: text.into() });
        let deltas = DeltaSink::new(&on_text);
        let tree = &self.executor.tree;
        let generated = async {
            // Only for the request: nothing that the run holds otherwise is waited for here.
            let _permit = tree.acquire(Claim::model_request(&tree.bounds)).await;
            caught("the model", async { self.model.generate(&request, &deltas).await }).await
        };
        let mut reply = tokio::select! {
            biased;
            reply = generated => reply.map_err(ModelError::Other)??,
            () = cancellation.cancelled() => return Ok(Asked::Finished(RunFinish::Cancelled)),
            () = tokio::time::sleep_until(self.executor.budget.deadline) => {
                return self.limit(LimitKind::Duration).map(Asked::Finished);
            }
        };
        // Hooks know tools by their own names and schemas.
        for call in &mut reply.message.tool_calls {
            self.executor.tools.map_back(call);
        }
        for hook in self.executor.middleware.iter().rev() {
            let hooked = self.executor.in_time("a hook", async { hook.after_model(&ctx, &mut reply).await });
            if let Some(finish) = self.unhooked(hooked.await)? {
                return Ok(Asked::Finished(finish));
            }
        }
        self.executor.budget.add_usage(reply.usage);
        self.model_finish = Some(reply.finish.clone());
        events.emit_with(|| AgentEvent::ModelCompleted {
            tool_calls: reply.message.tool_calls.len(),
            finish: reply.finish.to_string(),
            input_tokens: reply.usage.input_tokens,
            output_tokens: reply.usage.output_tokens,
        });
        Ok(Asked::Replied(Box::new(reply), request.tools))
    }

    /// How the run ends, if a hook around the model could not do its part.
    fn unhooked(&self, hooked: Result<Result<()>, String>) -> Result<Option<RunFinish>> {
        match hooked {
            Ok(result) => result.map(|()| None),
            Err(_) if self.executor.ctx.control().cancellation.is_cancelled() => {
                Ok(Some(RunFinish::Cancelled))
            }
            Err(_) if self.executor.budget.is_over() => self.limit(LimitKind::Duration).map(Some),
            Err(failure) => Err(TinyAgentsError::Hook(failure)),
        }
    }

    /// Gives calls ids of their own and the tools' canonical names; finds the calls that only repeat another one.
    fn canonical(&self, reply: &mut ModelReply) -> Vec<(usize, usize)> {
        if reply.finish == FinishReason::Length {
            distrust_last(reply);
        }
        let echoes = echoes(&reply.message);
        fill_ids(&mut reply.message, self.turn, &*self.ids);
        let control = self.executor.ctx.control();
        control.with_history(|history| history.tell_apart(&mut reply.message));
        // A hook may have written a name that the provider is shown.
        for call in &mut reply.message.tool_calls {
            if let Some(name) = self.executor.tools.canonical(&call.name) {
                if call.name != name.as_str() {
                    call.name = name.to_string();
                }
            }
        }
        echoes
    }

    fn limit(&self, limit: LimitKind) -> Result<RunFinish> {
        match self.behavior {
            LimitBehavior::Error => Err(TinyAgentsError::LimitReached(limit)),
            LimitBehavior::StopWithPartial => Ok(RunFinish::LimitReached(limit)),
        }
    }
}

/// Keeps the last call of a reply that was cut off from being made: what is whole JSON may still lack what the model had
/// not written yet, and some servers close the brackets of what they cut.
fn distrust_last(reply: &mut ModelReply) {
    if let Some(call) = reply.message.tool_calls.last_mut().filter(|call| call.invalid.is_none()) {
        call.invalid = Some("truncated: the reply hit the token limit; send a smaller payload".into());
        call.arguments = serde_json::Value::String(call.arguments.to_string()).into();
    }
}
