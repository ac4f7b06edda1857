//! How a run goes on when a call cannot.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::RunLimits;

/// How a run goes on when a call cannot, and how much it may use.
///
/// The default is the specification's: a call that cannot run ends the run. [`RunPolicy::recovering`] tells the
/// model instead, and is what most applications want.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunPolicy {
    /// What happens when the model calls a tool that it was not shown.
    pub unknown_tool: UnknownToolPolicy,
    /// What happens when arguments break the tool's schema. Arguments that are no JSON at all are always answered
    /// with an error result, whatever this says.
    pub invalid_args: InvalidArgsPolicy,
    /// What a failed change means for later changes of its turn.
    pub failure: FailurePolicy,
    /// How much the run may use.
    pub limits: RunLimits,
    /// How long a tool that was told to stop may take to end by itself; 5 seconds by default.
    pub grace: Duration,
    /// How long a person may take to answer whether a call may run; without an end by default, but for the run's own.
    /// No answer is a refusal.
    pub approval_timeout: Option<Duration>,
    /// The most bytes of a tool's output that the model is shown, where the tool declares no bound of its own;
    /// 64 KiB by default.
    pub max_result_bytes: u64,
}

impl Default for RunPolicy {
    fn default() -> Self {
        Self {
            unknown_tool: UnknownToolPolicy::default(),
            invalid_args: InvalidArgsPolicy::default(),
            failure: FailurePolicy::default(),
            limits: RunLimits::default(),
            grace: Duration::from_secs(5),
            approval_timeout: None,
            max_result_bytes: 64 * 1024,
        }
    }
}

impl RunPolicy {
    /// Tells the model what was wrong with a call and lets it try again.
    pub fn recovering() -> Self {
        Self {
            unknown_tool: UnknownToolPolicy::ReturnToolError,
            invalid_args: InvalidArgsPolicy::ReturnToolError,
            ..Self::default()
        }
    }
}

/// What happens when the model calls a tool that it was not shown. Every such call takes a slot of
/// `max_tool_calls` and is recorded as `AgentEvent::UnknownToolCall`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnknownToolPolicy {
    /// The run ends with `TinyAgentsError::ToolNotFound`.
    #[default]
    Fail,
    /// The model is told which tools there are.
    ReturnToolError,
    /// The call goes to this tool; if it is not shown either, as `ReturnToolError`.
    Rewrite {
        /// The canonical name of the tool.
        tool_name: String,
    },
}

/// What a failed or refused call that may change something means for later ones of its turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailurePolicy {
    /// Nothing: the model sees each result and decides.
    #[default]
    Continue,
    /// Later calls of the turn that may change something are not made. For runs that nobody watches.
    SkipLaterMutations,
}

/// What happens when arguments break the tool's schema. Recorded as `AgentEvent::InvalidToolArgs`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InvalidArgsPolicy {
    /// The run ends with `TinyAgentsError::InvalidArguments`.
    #[default]
    Fail,
    /// The model is told everything that is wrong, and the schema.
    ReturnToolError,
}
