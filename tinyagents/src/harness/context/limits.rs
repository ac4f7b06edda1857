//! Bounds of a run.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How much a run may use. Every attempt counts, whether it succeeds or not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunLimits {
    /// Requests to the model; 25 by default. Those of nested runs count too.
    pub max_model_calls: u32,
    /// Tool calls, refused and invalid ones, every attempt and those of nested runs included; 100 by default.
    pub max_tool_calls: u32,
    /// Attempts after the first, over all calls together; 20 by default. When they are used up, a call that might be
    /// made again is not, and its error is its result.
    pub max_retries: u32,
    /// Wall-clock time of the run; 10 minutes by default.
    pub max_duration: Duration,
    /// How deeply runs may start runs; 3 by default.
    pub max_depth: u32,
    /// In how many turns the same call may bring the same result before the model is told that it goes in circles: the
    /// third time by default. A refusal, an unknown name and invalid arguments are results too. Tools that declare
    /// `polling` are exempt.
    pub repeat_notice: u32,
    /// The same for ending the run; the sixth time by default.
    pub max_repeats: u32,
    /// What happens when a limit is reached.
    pub behavior: LimitBehavior,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self {
            max_model_calls: 25,
            max_tool_calls: 100,
            max_retries: 20,
            max_duration: Duration::from_secs(600),
            max_depth: 3,
            repeat_notice: 3,
            max_repeats: 6,
            behavior: LimitBehavior::Error,
        }
    }
}

/// What happens when a limit is reached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitBehavior {
    /// The run ends with an error.
    #[default]
    Error,
    /// The run ends with what it has, and says which limit it met.
    StopWithPartial,
}

/// Which limit was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LimitKind {
    /// [`RunLimits::max_model_calls`].
    ModelCalls,
    /// [`RunLimits::max_tool_calls`].
    ToolCalls,
    /// [`RunLimits::max_duration`].
    Duration,
    /// [`RunLimits::max_depth`].
    Depth,
    /// [`RunLimits::max_repeats`].
    Repeats,
}

impl fmt::Display for LimitKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ModelCalls => "max_model_calls",
            Self::ToolCalls => "max_tool_calls",
            Self::Duration => "max_duration",
            Self::Depth => "max_depth",
            Self::Repeats => "max_repeats",
        })
    }
}
