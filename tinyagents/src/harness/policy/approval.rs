//! Asking a person whether a call may run.
//!
//! Guarantee: what was shown is what runs: the arguments are the validated ones and cannot change afterwards. While a
//! person is asked the call holds nothing. No answer, and an approver that fails, is a refusal.

use async_trait::async_trait;

use super::ToolPolicy;
use crate::harness::id::{RunId, ThreadId};
use crate::harness::message::ToolCall;

/// Answers whether calls may run: a terminal, a chat window, a rule.
///
/// A harness without one refuses every call that needs an approval, and tells the model so. One that reads a terminal
/// does so in `spawn_blocking`: what blocks its thread holds the whole run.
#[async_trait]
pub trait Approver: Send + Sync {
    /// Decides on one call. Of one harness, one call is asked about at a time. The future is dropped when the answer
    /// is no longer wanted: the run was cancelled, its time is over, or the user sent another message.
    async fn ask(&self, request: ApprovalRequest) -> Approval;
}

/// A call that a person is asked about.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// The run that makes the call.
    pub run_id: RunId,
    /// The outermost run.
    pub root_run_id: RunId,
    /// The conversation.
    pub thread_id: Option<ThreadId>,
    /// How many runs the call's run stands within.
    pub depth: u32,
    /// The call: the tool's canonical name, and the arguments as the body will get them.
    pub call: ToolCall,
    /// What the tool declares of itself.
    pub policy: ToolPolicy,
    /// What an approval for the run covers: every later call whose keys are all among them.
    pub keys: Vec<String>,
    /// Why the call needs an approval.
    pub reason: String,
}

/// What a person answers.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Approval {
    /// This call may run.
    Once,
    /// This call, and every later call of its run with the same keys. Destructive calls and payments are asked about
    /// each time all the same.
    Run,
    /// The call must not run; the model is told the reason, and the run goes on.
    Deny {
        /// Why, for the model.
        reason: String,
    },
    /// As `Deny`, and the run ends.
    Stop {
        /// Why.
        reason: String,
    },
}

impl Approval {
    /// Refuses the call.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::Deny { reason: reason.into() }
    }

    /// Refuses the call and ends the run.
    pub fn stop(reason: impl Into<String>) -> Self {
        Self::Stop { reason: reason.into() }
    }
}

/// A refusal: silence is no consent.
impl Default for Approval {
    fn default() -> Self {
        Self::deny("nobody approved it")
    }
}
