//! The gate: what the policy, the hooks and earlier answers say of a call, and asking a person where they disagree to
//! decide.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
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
    /// Why, by call: nobody is asked twice about the same one.
    denied: HashMap<u64, String>,
    granted: HashSet<String>,
}

/// What an answer from before says of a call.
enum Before {
    Granted,
    Denied(String),
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
                Some(Before::Granted) => (decision, reason) = (Decision::Allow, "approved before".into()),
                Some(Before::Denied(why)) => (decision, reason) = (Decision::Deny, why.into()),
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

    /// What was said of this call, or of one that covers it.
    fn answered_before(&self, tool: &RegisteredTool<S, C>, call: &ToolCall) -> Option<Before> {
        let answers = self.memory.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(reason) = answers.denied.get(&key(call)) {
            return Some(Before::Denied(format!("already denied: {reason}; do not repeat this call")));
        }
        if answers.granted.is_empty() || is_asked_each_time(&tool.policy) {
            return None;
        }
        let keys = grant_keys(tool, call);
        (!keys.is_empty() && keys.iter().all(|key| answers.granted.contains(key))).then_some(Before::Granted)
    }

    /// Asks a person, while the call holds nothing; gives the call back if it may run, and answers it otherwise.
    pub(super) async fn ask(&self, turn: &OpenTurn<'_>, mut ready: Ready<S, C>) -> Option<Ready<S, C>> {
        let index = ready.index;
        let at = turn.site(index);
        // The answer to a call before this one may cover it.
        let before = self.answered_before(&ready.tool, &ready.call);
        let answer = match before {
            None => self.answer(turn, &at, &ready).await,
            Some(Before::Granted) => Ok(Approval::Once),
            Some(Before::Denied(why)) => Err(denied(&ready.call, &why)),
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
                let outcome = *denied(call, &reason);
                let mut answers = self.memory.answers.lock().unwrap_or_else(PoisonError::into_inner);
                answers.denied.insert(key(call), reason);
                outcome
            }
            Ok(Approval::Stop { reason }) => {
                denied(call, &reason).ending(Ending::Error(TinyAgentsError::Stopped(reason)))
            }
            Err(outcome) => *outcome,
        };
        self.settle_refused(turn, index, outcome);
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
        let withdrawn = async {
            tokio::select! {
                biased;
                () = turn.drain.cancelled() => self.stopped_before_start(call),
                () = self.ctx.control().queued() => {
                    let why = "not executed: superseded by a new message of the user";
                    Outcome::refused(call, FailureKind::Superseded, why.into())
                }
                () = tokio::time::sleep_until(self.budget.deadline) => limited(call, LimitKind::Duration),
            }
        };
        let mut withdrawn = pin!(withdrawn);
        // A question that is not wanted any more when its turn comes is not asked at all.
        let _first = tokio::select! {
            biased;
            outcome = &mut withdrawn => return Err(Box::new(outcome)),
            first = broker.line.lock() => first,
        };
        at.events.emit_with(|| AgentEvent::ApprovalAsked {
            call_id: call.id.clone(),
            tool_name: call.name.clone(),
        });
        let asking = async {
            // Within a block: a panic before the first await is caught too.
            let answer = caught("the approver", async { broker.approver.ask(request).await });
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
            outcome = &mut withdrawn => Err(outcome),
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
