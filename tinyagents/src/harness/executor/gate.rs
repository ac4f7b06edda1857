//! The gate: what the policy, the hooks and earlier answers say of a call, and asking a person where they disagree to
//! decide.

use std::borrow::Cow;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};

use super::body::caught;
use super::ledger::OpenTurn;
use super::outcome::{Ending, Outcome};
use super::prepare::{Ready, Step, cancelled_before_start, denied, limited};
use super::repeat::key;
use super::{CallSite, Executor};
use crate::TinyAgentsError;
use crate::harness::context::LimitKind;
use crate::harness::event::{AgentEvent, Decision, FailureKind};
use crate::harness::message::ToolCall;
use crate::harness::policy::{self, Approval, ApprovalRequest, Approver, ToolPolicy};
use crate::harness::tool::RegisteredTool;

/// The approver of a harness; one call at a time is shown to it.
pub(crate) struct Broker {
    approver: Arc<dyn Approver>,
    line: tokio::sync::Mutex<()>,
}

impl Broker {
    pub(crate) fn new(approver: Arc<dyn Approver>) -> Arc<Self> {
        Arc::new(Self { approver, line: tokio::sync::Mutex::new(()) })
    }
}

/// What a person has answered in this run.
#[derive(Default)]
pub(super) struct Answers {
    denied: HashSet<u64>,
    granted: HashSet<String>,
}

impl<S: Send + Sync + 'static, C: Send + Sync + 'static> Executor<S, C> {
    /// Decides on a valid call; gives why a person must be asked, if one must.
    pub(super) fn gate(
        &self,
        at: &CallSite,
        tool: &RegisteredTool<S, C>,
        call: &ToolCall,
        hook: Option<String>,
    ) -> Step<Option<String>> {
        let verdict = policy::decide(&tool.policy, self.ctx.workspace());
        let (mut decision, mut reason) = (verdict.decision, Cow::Borrowed(verdict.reason));
        if let (Decision::Allow, Some(why)) = (decision, hook) {
            (decision, reason) = (Decision::Ask, why.into());
        }
        if decision == Decision::Ask {
            match self.answered_before(tool, call) {
                Some(Decision::Allow) => (decision, reason) = (Decision::Allow, "approved before".into()),
                Some(_) => {
                    let why = "a person refused this very call already; do not repeat it";
                    (decision, reason) = (Decision::Deny, why.into());
                }
                None if self.approver.is_none()
                    || self.policy.approval_timeout.is_some_and(|t| t.is_zero()) =>
                {
                    let why = "it needs a person's approval, and nobody can be asked in this run";
                    (decision, reason) = (Decision::Deny, why.into());
                }
                None => {}
            }
        }
        at.events.emit_with(|| AgentEvent::ToolDecided {
            call_id: call.id.clone(),
            tool_name: call.name.clone(),
            decision,
            reason: reason.to_string(),
        });
        match decision {
            Decision::Allow => Ok(None),
            Decision::Ask => Ok(Some(reason.into_owned())),
            Decision::Deny => Err(denied(call, &reason)),
        }
    }

    /// What a person said of this call, or of one that covers it.
    fn answered_before(&self, tool: &RegisteredTool<S, C>, call: &ToolCall) -> Option<Decision> {
        let answers = self.memory.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if answers.denied.contains(&key(call)) {
            return Some(Decision::Deny);
        }
        if answers.granted.is_empty() || is_asked_each_time(&tool.policy) {
            return None;
        }
        let keys = grant_keys(tool, call);
        (!keys.is_empty() && keys.iter().all(|key| answers.granted.contains(key))).then_some(Decision::Allow)
    }

    /// Asks a person, while the call holds nothing; gives the call back if it may run, and answers it otherwise.
    pub(super) async fn ask(&self, turn: &OpenTurn<'_>, mut ready: Ready<S, C>) -> Option<Ready<S, C>> {
        let index = ready.index;
        let at = turn.site(index);
        // The answer to a call before this one may cover it.
        let answer = match self.answered_before(&ready.tool, &ready.call) {
            Some(Decision::Allow) => Ok(Approval::Once),
            Some(_) => Ok(Approval::deny("a person refused this very call already; do not repeat it")),
            None => self.answer(turn, &at, &ready).await,
        };
        let call = &ready.call;
        let outcome = match answer {
            Ok(Approval::Once) => {
                ready.ask = None;
                return Some(ready);
            }
            Ok(Approval::Run) => {
                let keys = grant_keys(&ready.tool, call);
                self.memory.answers.lock().unwrap_or_else(PoisonError::into_inner).granted.extend(keys);
                ready.ask = None;
                return Some(ready);
            }
            Ok(Approval::Deny { reason }) => {
                self.memory.answers.lock().unwrap_or_else(PoisonError::into_inner).denied.insert(key(call));
                *denied(call, &reason)
            }
            Ok(Approval::Stop { reason }) => {
                denied(call, &reason).ending(Ending::Error(TinyAgentsError::Stopped(reason)))
            }
            Err(outcome) => *outcome,
        };
        self.settle_refused(turn, index, &ready.call.name, outcome);
        None
    }

    /// Gets an answer, unless it is no longer wanted.
    async fn answer(&self, turn: &OpenTurn<'_>, at: &CallSite, ready: &Ready<S, C>) -> Step<Approval> {
        let Some(broker) = &self.approver else { return Ok(Approval::default()) };
        let (tool, call) = (&ready.tool, &ready.call);
        let request = ApprovalRequest {
            run_id: self.ctx.run_id().clone(),
            root_run_id: self.ctx.root_run_id().clone(),
            thread_id: self.ctx.thread_id().cloned(),
            depth: self.depth(),
            call: call.clone(),
            policy: tool.policy.clone(),
            keys: grant_keys(tool, call),
            reason: ready.ask.clone().unwrap_or_default(),
        };
        let asking = async {
            let _first = broker.line.lock().await;
            at.events.emit_with(|| AgentEvent::ApprovalAsked {
                call_id: call.id.clone(),
                tool_name: call.name.clone(),
            });
            let answer = caught("the approver", broker.approver.ask(request));
            let answer = match self.policy.approval_timeout {
                None => answer.await,
                Some(timeout) => match tokio::time::timeout(timeout, answer).await {
                    Ok(answer) => answer,
                    Err(_) => Ok(Approval::deny(format!("nobody answered within {timeout:?}"))),
                },
            };
            // An approver that fails has not agreed.
            answer.unwrap_or_else(Approval::deny)
        };
        let answer = tokio::select! {
            biased;
            answer = asking => Ok(answer),
            () = turn.drain.cancelled() => Err(self.stopped_before_start(call)),
            () = self.ctx.control().queued() => {
                let why = "not executed: superseded by a new message of the user";
                Err(Outcome::refused(call, FailureKind::Superseded, why.into()))
            }
            () = tokio::time::sleep_until(self.budget.deadline) => Err(limited(call, LimitKind::Duration)),
        };
        let (decision, reason) = match &answer {
            Ok(Approval::Once) => (Decision::Allow, "approved once"),
            Ok(Approval::Run) => (Decision::Allow, "approved for the run"),
            Ok(Approval::Deny { reason } | Approval::Stop { reason }) => (Decision::Deny, reason.as_str()),
            Err(_) => (Decision::Deny, "the answer was no longer wanted"),
        };
        at.events.emit_with(|| AgentEvent::ApprovalAnswered {
            call_id: call.id.clone(),
            tool_name: call.name.clone(),
            decision,
            reason: reason.into(),
        });
        answer.map_err(Box::new)
    }

    /// Answers a call that may not start any more, because its run was cancelled or its turn cannot go on.
    pub(super) fn stopped_before_start(&self, call: &ToolCall) -> Outcome {
        if self.is_cancelled() {
            return cancelled_before_start(call);
        }
        let why = "not executed: another call of this turn ended the run";
        Outcome::refused(call, FailureKind::Skipped, why.into())
    }
}

/// What an approval covers; nothing that could be remembered if the tool cannot say it.
fn grant_keys<S, C>(tool: &RegisteredTool<S, C>, call: &ToolCall) -> Vec<String> {
    let keys = catch_unwind(AssertUnwindSafe(|| tool.tool.grant_keys(&call.arguments)));
    let named = |key: String| format!("{}:{key}", tool.spec.name);
    keys.unwrap_or_default().into_iter().map(named).collect()
}

/// Whether an approval holds for one call only, whatever the person said.
fn is_asked_each_time(policy: &ToolPolicy) -> bool {
    policy.side_effects.destructive || policy.side_effects.payment
}
