//! How the calls of a turn run.
//!
//! Guarantee: every call of a reply gets exactly one result and exactly one terminal event, whatever happens to it: an
//! unknown name, bad arguments, a refusal, an error, a panic, a timeout, a cancel, a dropped run. No call overtakes an
//! earlier one across a boundary between reading and changing. Nothing waits in a circle.
//!
//! The way of a call: `prepare` → `gate` → `plan` → `dispatch` (`permits`, `tree`) → `body` → `retry` → `finish` →
//! `ledger`. Not here: asking the model (`runtime`), and deciding what a tool may do (`policy`).

mod arguments;
mod body;
mod bound;
mod budget;
mod dispatch;
mod finish;
mod gate;
mod ledger;
mod outcome;
mod permits;
mod plan;
mod prepare;
mod provide;
mod repeat;
mod retry;
mod tree;

pub(crate) use body::{CLOSING, caught};
pub(crate) use budget::Budget;
pub(crate) use gate::Broker;
pub(crate) use ledger::{echoes, fill_ids};
pub(crate) use outcome::Ending;
pub use permits::{Claim, ExecutorBounds, Permits, Resource, Standing, ZeroBound};
pub use plan::{Admission, plan};
pub(crate) use tree::Tree;

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::{Arc, Mutex, OnceLock};
use std::task::Poll;
use std::time::Duration;

use tokio::time::Instant;

use super::context::{RunContext, RunPolicy};
use super::credential::CredentialProvider;
use super::event::{AgentEvent, EventSink, FailureKind};
use super::message::{AssistantMessage, HistoryError, ToolCall};
use super::middleware::Middleware;
use super::policy;
use super::source::Clock;
use super::store::StoreRegistry;
use super::tool::{Provided, ToolError, ToolResult, ToolSchema, ToolSet};
use body::{BodyEnd, once};
use dispatch::Dispatch;
use gate::Answers;
use ledger::OpenTurn;
use outcome::{Outcome, error_result};
use prepare::Ready;
use repeat::Repeats;
use tree::Held;

/// What the calls of a run share.
pub(crate) struct Executor<S: Send + Sync, C: Send + Sync> {
    pub(crate) state: Arc<S>,
    pub(crate) ctx: Arc<RunContext<C>>,
    pub(crate) tools: Arc<ToolSet<S, C>>,
    pub(crate) middleware: Vec<Arc<dyn Middleware<S, C>>>,
    pub(crate) policy: RunPolicy,
    pub(crate) stores: StoreRegistry,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) budget: Arc<Budget>,
    pub(crate) tree: Arc<Tree>,
    pub(crate) approver: Option<Arc<Broker>>,
    pub(crate) credentials: Option<Arc<dyn CredentialProvider>>,
    /// What the tools get: the resources, and the credentials once [`provide`](Self::provide) has asked for them.
    pub(crate) provided: Arc<Provided>,
    /// Whether nothing may be changed: the run stands within a call that counts as reading.
    pub(crate) reads_only: bool,
    /// What a call that drives a nested run gets to start it with. The runtime knows the type.
    pub(crate) nested: Option<Arc<dyn Any + Send + Sync>>,
    pub(crate) memory: Memory,
}

/// What a run remembers of its calls.
#[derive(Default)]
pub(crate) struct Memory {
    answers: Mutex<Answers>,
    repeats: Mutex<Repeats>,
    stopped_at: OnceLock<Instant>,
}

impl<S: Send + Sync + 'static, C: Send + Sync + 'static> Executor<S, C> {
    /// Runs the calls of a reply and closes the turn; gives why it must be the last, if so. The ids must be unique
    /// (see `History::tell_apart`).
    pub(crate) async fn turn(
        &self,
        number: u32,
        reply: AssistantMessage,
        echoes: &[(usize, usize)],
        advertised: &[ToolSchema],
    ) -> Result<Option<Ending>, HistoryError> {
        let turn = OpenTurn::open(number, reply, self.ctx.events(), self.ctx.control());
        self.run_turn(&turn, echoes, advertised).await;
        let ending = turn.close()?;
        Ok(match self.apply_updates(number) {
            Err(error) if !matches!(ending, Some(Ending::Error(_))) => Some(Ending::Error(error.into())),
            _ => ending,
        })
    }

    /// Runs one call outside any turn.
    pub(crate) async fn one_call(&mut self, call: ToolCall) -> ToolResult {
        let tools = Arc::clone(&self.tools);
        let missing = self.provide(tools.get(&call.name).into_iter()).await.err();
        let fallback = || *Outcome::refused(&call, FailureKind::Skipped, "not executed".into()).result;
        let turn =
            OpenTurn::open(0, AssistantMessage::calls([call.clone()]), self.ctx.events(), self.ctx.control());
        match missing {
            None => self.run_turn(&turn, &[], &tools.schemas).await,
            Some(missing) => {
                self.requested(&turn.site(0), &call);
                let why = format!("not executed: {missing}");
                turn.settle(0, Outcome::refused(&call, FailureKind::Denied, why));
            }
        }
        let result = turn.into_result().unwrap_or_else(fallback);
        match self.apply_updates(0) {
            Ok(()) => result,
            Err(error) => error_result(&call, &error.to_string()),
        }
    }

    /// Applies what the calls of a turn recorded. Updates are tools' code: one that panics leaves the data half
    /// changed, so no call may see it.
    fn apply_updates(&self, turn: u32) -> Result<(), ToolError> {
        catch_unwind(AssertUnwindSafe(|| self.ctx.apply_updates(turn))).map_err(|panic| {
            ToolError::fatal(format!("a context update panicked: {}", body::panic_message(&*panic)))
        })
    }

    async fn run_turn(&self, turn: &OpenTurn<'_>, echoes: &[(usize, usize)], advertised: &[ToolSchema]) {
        let count = turn.len();
        let (mut kinds, mut calls) = (Vec::with_capacity(count), Vec::with_capacity(count));
        // All at once: a run that is dropped while the first is looked at answers every one of them.
        if turn.events.is_heard() {
            for (index, call) in (0..count).filter_map(|index| Some((index, turn.call(index)?))) {
                self.requested(&turn.site(index), &call);
            }
        }
        for index in 0..count {
            let Some(call) = turn.call(index) else { continue };
            let at = turn.site(index);
            let echo =
                echoes.binary_search_by_key(&index, |(echo, _)| *echo).ok().and_then(|at| echoes.get(at));
            let prepared = match echo.and_then(|(_, first)| turn.call(*first)) {
                Some(first) => Err(Box::new(duplicate(&call, &first))),
                None if turn.is_draining() => Err(Box::new(self.stopped_before_start(&call))),
                None => self.prepare(&at, call, advertised).await,
            };
            match prepared {
                Ok(ready) => {
                    kinds.push(ready.kind);
                    calls.push(Some(ready));
                }
                Err(outcome) => {
                    kinds.push(Admission::Instant);
                    calls.push(None);
                    self.settle_refused(turn, index, *outcome);
                }
            }
        }
        let mut dispatch = Dispatch::new(self, turn);
        for (number, segment) in plan(&kinds).into_iter().enumerate() {
            let calls = calls.get_mut(segment).unwrap_or_default().iter_mut();
            dispatch.segment(number, calls.filter_map(Option::take)).await;
        }
    }

    /// Runs a body once. Gives the call back with the time to wait if it is to be made again, and answers it
    /// otherwise.
    async fn run_attempt(
        &self,
        turn: &OpenTurn<'_>,
        mut ready: Ready<S, C>,
        held: Held,
    ) -> Option<(Ready<S, C>, Duration)> {
        let at = turn.site(ready.index);
        ready.attempts += 1;
        turn.started(ready.index);
        if ready.attempts == 1 {
            let (id, name) = (&ready.call.id, &ready.tool.spec.name);
            at.events
                .emit_with(|| AgentEvent::ToolAdmitted { call_id: id.clone(), tool_name: name.to_string() });
            at.events
                .emit_with(|| AgentEvent::ToolStarted { call_id: id.clone(), tool_name: name.to_string() }); // 5
        }
        let stop = if ready.kind == Admission::Read { &turn.drain } else { &turn.stop };
        let started = self.clock.elapsed();
        let end = self.body(&at, &ready, stop, held).await; // 6
        ready.elapsed += self.clock.elapsed().saturating_sub(started);
        if matches!(end, BodyEnd::Returned(Err(_))) && !turn.drain.is_cancelled() {
            if let Some((wait, error)) = retry::wait(&ready, &end, &self.budget) {
                at.events.emit_with(|| AgentEvent::ToolRetrying {
                    call_id: ready.call.id.clone(),
                    tool_name: ready.tool.spec.name.to_string(),
                    attempt: ready.attempts + 1,
                    after: wait,
                    error,
                });
                self.ctx.forget_updates(turn.number, at.index);
                ready.last = Some(end);
                return Some((ready, wait));
            }
        }
        self.conclude(turn, &ready, end).await;
        None
    }

    /// From the end of a body to the call's result.
    async fn conclude(&self, turn: &OpenTurn<'_>, ready: &Ready<S, C>, end: BodyEnd) {
        let outcome = self.finish(&turn.site(ready.index), ready, end).await;
        if outcome.result.is_error && !ready.kind.only_reads() {
            turn.mutation_failed(ready.index);
        }
        turn.settle(ready.index, outcome); // 10: tool.completed or tool.failed
    }

    /// Answers a call that never started.
    fn settle_refused(&self, turn: &OpenTurn<'_>, index: usize, mut outcome: Outcome) {
        let kind = outcome.failure.as_ref().map(|failure| failure.kind);
        // By the name that was refused: a hook may have given the call another one.
        let tool = self.tools.get(outcome.result.name.as_str());
        if tool.is_some_and(|tool| !tool.policy.is_read_only()) && kind != Some(FailureKind::Duplicate) {
            turn.mutation_failed(index);
        }
        // Only what the model could have done otherwise is a sign that it goes in circles.
        let own = matches!(
            kind,
            Some(FailureKind::UnknownTool | FailureKind::InvalidArguments | FailureKind::Denied)
        );
        if own && !tool.is_some_and(|tool| tool.policy.runtime.polling) {
            if let Some(call) = turn.call(index) {
                let times = self.count_repeats(turn.number, &call, &outcome);
                self.note_repeats(times, &mut outcome);
            }
        }
        turn.settle(index, outcome);
    }

    /// Records that the model asked for a call.
    fn requested(&self, at: &CallSite, call: &ToolCall) {
        at.events.emit_with(|| AgentEvent::ToolRequested {
            call_id: call.id.clone(),
            tool_name: call.name.clone(),
            arguments: at.events.capture(|| {
                let hidden = self.tools.get(&call.name).map(|tool| tool.policy.redact.as_slice());
                policy::redacted(&call.arguments, hidden.unwrap_or_default())
                    .map_or_else(|| call.arguments.clone(), Into::into)
            }),
        });
    }

    /// How many runs this one stands within.
    fn depth(&self) -> u32 {
        self.ctx.config().depth
    }

    fn is_cancelled(&self) -> bool {
        self.ctx.control().cancellation.is_cancelled()
    }

    /// Since when the run is to end. Everything that still runs then shares one grace.
    fn stopped_at(&self) -> Instant {
        *self.memory.stopped_at.get_or_init(Instant::now)
    }

    /// Runs code that is not the library's own, as long as the run and its grace last. That it panics, or does not end
    /// in time, is an error with this text.
    pub(crate) async fn in_time<T>(&self, who: &str, work: impl Future<Output = T>) -> Result<T, String> {
        let mut work = pin!(caught(who, work));
        // What does not wait needs no timer.
        if let Poll::Ready(result) = once(&mut work).await {
            return result;
        }
        let given_up = Box::pin(async {
            tokio::select! {
                () = self.ctx.control().cancellation.cancelled() => {}
                () = tokio::time::sleep_until(self.budget.deadline) => {}
            }
            // What begins when the grace is over gets a moment, or nothing could be written down after it.
            let moment = Instant::now().checked_add(CLOSING);
            let last = self.stopped_at().checked_add(self.policy.grace).max(moment);
            tokio::time::sleep_until(last.unwrap_or(self.budget.deadline)).await;
        });
        tokio::select! {
            biased;
            result = work => result,
            () = given_up => Err(format!("{who} did not end while the run did")),
        }
    }
}

fn duplicate(call: &ToolCall, first: &ToolCall) -> Outcome {
    let why =
        format!("not executed again: it repeats the call `{}` of this turn, whose result stands", first.id);
    Outcome::refused(call, FailureKind::Duplicate, why)
}

/// Where a call stands in its run.
pub(crate) struct CallSite {
    pub(crate) turn: u32,
    pub(crate) index: u32,
    pub(crate) events: EventSink,
}
