//! How the calls of a turn run.
//!
//! Guarantee: every call of a reply gets exactly one result and exactly one terminal event, in call order,
//! whatever happens to it: an unknown name, bad arguments, a refusal, an error, a panic, a timeout, a cancel.
//!
//! Calls run one after another. Not here: asking the model (`runtime`), and deciding what a tool may do
//! (`policy`).

mod body;
mod bound;
mod ledger;
mod outcome;
mod permits;
mod pipeline;
mod plan;
mod provide;

pub(crate) use body::caught;
pub(crate) use ledger::fill_ids;
pub(crate) use outcome::Ending;
pub use permits::{Claim, ExecutorBounds, Permits, Resource, Standing, ZeroBound};
pub use plan::{Admission, plan};

use std::sync::Arc;

use tokio::time::Instant;

use super::context::{LimitKind, RunContext, RunPolicy};
use super::credential::CredentialProvider;
use super::event::{AgentEvent, EventSink, FailureKind};
use super::message::{AssistantMessage, ClosedTurn, HistoryError, ToolCall};
use super::middleware::Middleware;
use super::policy;
use super::source::Clock;
use super::store::StoreRegistry;
use super::tool::{Grants, ToolResult, ToolSchema, ToolSet};
use ledger::TurnLedger;
use outcome::Outcome;

/// What the calls of a run share.
pub(crate) struct Executor<S: Send + Sync, C: Send + Sync> {
    pub(crate) state: Arc<S>,
    pub(crate) ctx: Arc<RunContext<C>>,
    pub(crate) tools: Arc<ToolSet<S, C>>,
    pub(crate) middleware: Vec<Arc<dyn Middleware<S, C>>>,
    pub(crate) policy: RunPolicy,
    pub(crate) stores: StoreRegistry,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) budget: Budget,
    pub(crate) credentials: Option<Arc<dyn CredentialProvider>>,
    /// What the tools get: the resources, and the credentials once [`provide`](Self::provide) has asked for them.
    pub(crate) grants: Arc<Grants>,
}

/// What a run has left.
#[derive(Debug)]
pub(crate) struct Budget {
    pub(crate) tool_calls: u32,
    pub(crate) deadline: Instant,
}

/// A turn that was run: whole, and, if it must be the last, why.
pub(crate) struct FinishedTurn {
    pub(crate) closed: ClosedTurn,
    pub(crate) ending: Option<Ending>,
}

impl<S: Send + Sync + 'static, C: Send + Sync + 'static> Executor<S, C> {
    /// Runs the calls of a reply. The ids must be unique (see `History::tell_apart`).
    pub(crate) async fn turn(
        &mut self,
        turn: u32,
        reply: AssistantMessage,
        advertised: &[ToolSchema],
    ) -> Result<FinishedTurn, HistoryError> {
        let events = self.ctx.events().at_turn(turn);
        events.emit_with(|| AgentEvent::TurnOpened { tool_calls: reply.tool_calls.len() });
        let mut ledger = TurnLedger::open(reply);
        let mut ending = None;
        let mut failed = 0;
        for index in 0..ledger.len() {
            let Some(call) = ledger.call(index).cloned() else { continue };
            let at = CallSite::new(turn, u32::try_from(index).unwrap_or(u32::MAX), &events);
            let outcome = match &ending {
                None | Some(Ending::Answer) => self.run_call(&at, call, advertised).await,
                Some(_) => self.skip_call(&at, &call),
            };
            failed += usize::from(outcome.result.is_error);
            ledger.settle(index, outcome.result);
            if let None | Some(Ending::Answer) = ending {
                ending = outcome.ending;
            }
        }
        if let (Some(Ending::Answer), true) = (&ending, ledger.len() > 1) {
            ending = None; // the model asked for more than this answer
        }
        let closed = ledger.close()?;
        events.emit_with(|| AgentEvent::TurnClosed { failed });
        Ok(FinishedTurn { closed, ending })
    }

    /// Runs one call outside any turn.
    pub(crate) async fn one_call(&mut self, call: ToolCall) -> ToolResult {
        let at = CallSite::new(0, 0, self.ctx.events());
        let tools = Arc::clone(&self.tools);
        let needed = tools.get(&call.name).map(Arc::clone);
        let outcome = match self.provide(needed.iter()).await {
            Ok(()) => self.run_call(&at, call, &tools.schemas).await,
            Err(missing) => {
                self.requested(&at, &call);
                let why = format!("not executed: {missing}");
                at.settled(Outcome::refused(&call, FailureKind::Denied, why))
            }
        };
        self.ctx.apply_updates();
        outcome.result
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

    /// Answers a call that an earlier call of its turn kept from running.
    fn skip_call(&self, at: &CallSite, call: &ToolCall) -> Outcome {
        self.requested(at, call);
        let why = "not executed: an earlier call of this turn ended the run";
        let outcome = Outcome::refused(call, FailureKind::Skipped, why.into());
        at.settled(outcome)
    }

    /// Why no further call may start, if that is so.
    fn stop(&self) -> Option<LimitKind> {
        (Instant::now() >= self.budget.deadline).then_some(LimitKind::Duration)
    }
}

/// Where a call stands in its run.
pub(crate) struct CallSite {
    pub(crate) turn: u32,
    pub(crate) index: u32,
    pub(crate) events: EventSink,
}

impl CallSite {
    fn new(turn: u32, index: u32, events: &EventSink) -> Self {
        Self { turn, index, events: events.at_call(index) }
    }

    /// Sends the call's terminal event.
    fn settled(&self, outcome: Outcome) -> Outcome {
        self.events.emit_with(|| outcome.terminal_event());
        outcome
    }
}
