//! The loop: ask the model, run its calls, give the results back, until it answers.
//!
//! Guarantee: a run ends by itself (answer, limit, cancel or error), its transcript holds a result for every call,
//! and nothing a model sends can end it unless the policy says so.
//!
//! Not here: how calls run (`executor`).

mod agent_loop;
mod explain;
mod harness;
mod nested;
mod parts;
mod stream;

pub use explain::{ExplainedTool, Explanation};
pub use harness::AgentHarness;
pub use nested::{ChildRuns, SubAgent, SubAgentTool};
pub use stream::RunStream;

pub use super::context::{
    FailurePolicy, InvalidArgsPolicy, LimitBehavior, LimitKind, RunLimits, RunPolicy, UnknownToolPolicy,
};

use std::fmt;

use super::id::RunId;
use super::message::{ArtifactRef, Message};
use super::model::{FinishReason, Usage};

/// What a run came to.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentRun {
    /// The run.
    pub run_id: RunId,
    /// The whole transcript: what was handed in and what came of it. A result stands for every call.
    pub messages: Vec<Message>,
    /// How the run ended.
    pub finish: RunFinish,
    /// Why the model stopped in its last reply: an answer that ends with `Length` was cut off.
    pub model_finish: Option<FinishReason>,
    /// What the requests to models cost together, those of nested runs included.
    pub usage: Usage,
}

impl AgentRun {
    /// The answer, if the run came to one: the model's, or the result of a tool that answers in its place
    /// (`#[tool(return_direct)]`).
    pub fn answer(&self) -> Option<String> {
        match (&self.finish, self.messages.last()) {
            (RunFinish::Completed, Some(message @ (Message::Assistant(_) | Message::Tool(_)))) => {
                Some(message.text())
            }
            _ => None,
        }
    }

    /// Where the large outputs of the run are kept, in the order of their calls.
    pub fn artifacts(&self) -> Vec<ArtifactRef> {
        let results = self.messages.iter().filter_map(Message::as_tool);
        results.flat_map(|result| result.artifacts.iter().cloned()).collect()
    }
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunFinish {
    /// The model answered, or a tool did in its place.
    Completed,
    /// The run was cancelled; the transcript is whole up to there.
    Cancelled,
    /// A limit was reached and the policy is to stop with what there is.
    LimitReached(LimitKind),
}

impl fmt::Display for RunFinish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Completed => f.write_str("completed"),
            Self::Cancelled => f.write_str("cancelled"),
            Self::LimitReached(limit) => write!(f, "stopped at the limit {limit}"),
        }
    }
}
