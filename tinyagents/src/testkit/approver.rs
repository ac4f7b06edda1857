//! An approver that follows a script.

use std::collections::VecDeque;
use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use crate::harness::policy::{Approval, ApprovalRequest, Approver};

/// Gives an answer, or none and leaves the question open.
type Step = Box<dyn FnOnce(&ApprovalRequest) -> Option<Approval> + Send>;

#[derive(Default)]
struct Script {
    steps: VecDeque<Step>,
    requests: Vec<ApprovalRequest>,
}

/// An approver that answers what it was told to, in order, and records what it was asked.
///
/// Clones share the script, so a test keeps one to look at. A question beyond the script is answered with a refusal
/// that says so.
///
/// ```
/// use tinyagents::harness::policy::ToolAccess;
/// use tinyagents::harness::tool::DynTool;
/// use tinyagents::prelude::*;
/// use tinyagents::testkit::{ScriptedApprover, ScriptedModel};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> tinyagents::Result<()> {
/// let asks = ToolPolicy::read_only().with_access(ToolAccess { approval_required: true, ..Default::default() });
/// let send = DynTool::new("send", json!({ "type": "object" }), asks, |_, _| async {
///     Ok::<_, ToolError>("sent".to_string())
/// });
/// let model = ScriptedModel::new().call("send", json!({})).call("send", json!({ "to": "Ada" })).text("done");
/// let approver = ScriptedApprover::new().once().deny("not to Ada");
/// let mut harness: AgentHarness<()> = AgentHarness::new();
/// harness.register_model("default", model)?.register_tool(send)?.with_approver(approver.clone());
/// let run = harness.invoke(&(), vec![Message::user("go")]).await?;
/// assert_eq!(run.messages[2].text(), "sent");
/// assert_eq!(run.messages[4].text(), "error: denied, and not executed: not to Ada");
/// assert_eq!(approver.requests()[1].call.arguments, json!({ "to": "Ada" }));
/// approver.assert_complete();
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct ScriptedApprover(Arc<Mutex<Script>>);

impl ScriptedApprover {
    /// An approver whose script is empty: it refuses everything.
    pub fn new() -> Self {
        Self::default()
    }

    /// Then approves the call.
    pub fn once(self) -> Self {
        self.answer(Approval::Once)
    }

    /// Then approves the call, and all that its keys cover for the rest of its run.
    pub fn run(self) -> Self {
        self.answer(Approval::Run)
    }

    /// Then refuses the call.
    pub fn deny(self, reason: impl Into<String>) -> Self {
        self.answer(Approval::deny(reason))
    }

    /// Then refuses the call and stops the run.
    pub fn stop(self, reason: impl Into<String>) -> Self {
        self.answer(Approval::stop(reason))
    }

    /// Then leaves the question open, until it is withdrawn.
    pub fn never(self) -> Self {
        self.step(|_| None)
    }

    /// Then computes its answer from the question.
    pub fn respond(self, step: impl FnOnce(&ApprovalRequest) -> Approval + Send + 'static) -> Self {
        self.step(|request| Some(step(request)))
    }

    /// What the approver was asked, in order; questions beyond the script too.
    pub fn requests(&self) -> Vec<ApprovalRequest> {
        self.lock().requests.clone()
    }

    /// Checks that the whole script was used.
    ///
    /// # Panics
    ///
    /// Answers are left.
    #[track_caller]
    pub fn assert_complete(&self) {
        let left = self.lock().steps.len();
        assert!(left == 0, "the script has {left} more answers that were not asked for");
    }

    fn answer(self, answer: Approval) -> Self {
        self.step(|_| Some(answer))
    }

    fn step(self, step: impl FnOnce(&ApprovalRequest) -> Option<Approval> + Send + 'static) -> Self {
        self.lock().steps.push_back(Box::new(step));
        self
    }

    fn lock(&self) -> MutexGuard<'_, Script> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Approver for ScriptedApprover {
    async fn ask(&self, request: ApprovalRequest) -> Approval {
        let (number, step) = {
            let mut script = self.lock();
            script.requests.push(request.clone());
            (script.requests.len(), script.steps.pop_front())
        };
        let Some(step) = step else {
            return Approval::deny(format!("the approver's script has no answer to question {number}"));
        };
        match step(&request) {
            Some(answer) => answer,
            None => pending().await,
        }
    }
}
