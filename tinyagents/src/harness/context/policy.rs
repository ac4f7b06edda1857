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
    /// Whether arguments that break the tool's schema are first brought into the form that it asks for.
    pub repair: ArgumentRepair,
    /// What happens to a field that no parameter has.
    pub extra_args: ExtraArgs,
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
            repair: ArgumentRepair::default(),
            extra_args: ExtraArgs::default(),
            failure: FailurePolicy::default(),
            limits: RunLimits::default(),
            grace: Duration::from_secs(5),
            approval_timeout: None,
            max_result_bytes: 64 * 1024,
        }
    }
}

impl RunPolicy {
    /// Repairs what can be read in one way only; else tells the model what was wrong with a call and lets it try again.
    pub fn recovering() -> Self {
        Self {
            unknown_tool: UnknownToolPolicy::ReturnToolError,
            invalid_args: InvalidArgsPolicy::ReturnToolError,
            repair: ArgumentRepair::On,
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

/// Whether a call that breaks its tool's schema is first brought into the form that the schema asks for.
///
/// Each step is exact, applies only where the schema asks for it, and is recorded as
/// `AgentEvent::ArgumentsRepaired` (see `RepairRule` for the steps). Nothing is dropped, no text that was cut off is
/// closed, and of two possible readings none is taken. A call is repaired before any policy or person sees it; one
/// that is valid is never touched. `null` for a parameter that may be left out means left out, whatever this says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ArgumentRepair {
    /// Nothing is repaired.
    #[default]
    Off,
    /// What `On` would do is recorded, and not done.
    Observe,
    /// Calls are repaired.
    On,
}

/// What happens to a field of the arguments that no parameter has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ExtraArgs {
    /// The call is refused, and the model is told the nearest names; also where an object of a foreign schema declares
    /// its fields and is silent about `additionalProperties`. An object that declares none is a free map, and what a
    /// schema allows in words stays allowed.
    #[default]
    Deny,
    /// The field is left out, and recorded as `AgentEvent::ArgumentsRepaired` with the rule `Dropped`.
    DropWithNotice,
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
