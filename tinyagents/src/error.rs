//! The few ways a run ends badly.

use crate::harness::context::LimitKind;
use crate::harness::executor::ZeroBound;
use crate::harness::message::{HistoryError, quoted};
use crate::harness::model::ModelError;
use crate::harness::store::StoreError;
use crate::harness::tool::{ArgumentProblem, RegistryError, ToolError};

/// The result of the library's functions.
pub type Result<T, E = TinyAgentsError> = std::result::Result<T, E>;

/// Why something could not be set up, or why a run ended without an answer.
///
/// The transcript of a run that ended with an error is whole; [`RunHandle::transcript`] has it.
///
/// [`RunHandle::transcript`]: crate::harness::context::RunHandle::transcript
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TinyAgentsError {
    /// The model called a tool it was not shown, and the run's policy is to fail.
    #[error("the model called the tool `{}`, which is not registered or not shown in this run", quoted(.0, 100))]
    ToolNotFound(String),
    /// The model sent arguments that break a tool's schema, and the run's policy is to fail.
    #[error("the model called `{tool}` with invalid arguments: {}", problems.first().map(ToString::to_string).unwrap_or_default())]
    InvalidArguments {
        /// The tool.
        tool: String,
        /// Everything that is wrong with them.
        problems: Vec<ArgumentProblem>,
    },
    /// No model of that name is registered.
    #[error("no model named `{0}` is registered; call `register_model` first")]
    ModelNotFound(String),
    /// A model of that name is registered already.
    #[error("a model named `{0}` is registered already; give one of them another name")]
    DuplicateModel(String),
    /// A tool could not be registered.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The messages handed in are no whole transcript.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// The provider takes fewer tools in one request than the model would be shown. No request was sent: the provider
    /// would refuse it as a whole, and only the application knows which tools a run can do without.
    #[error(
        "{dialect} takes at most {most} tools in one request, and this one has {count}; show the model fewer with \
         `ToolAllowlist` or in a `before_model` hook, or set `limits.tools` of the model's dialect if the limit is another"
    )]
    TooManyTools {
        /// The dialect of the model.
        dialect: &'static str,
        /// The most tools that its provider takes.
        most: usize,
        /// The tools of the request.
        count: usize,
    },
    /// The model did not reply.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A hook around the model panicked.
    #[error("{0}")]
    Hook(String),
    /// A tool failed; from a run only if the tool said that the run cannot go on.
    #[error("{}", .0)]
    Tool(ToolError),
    /// A person who was asked about a call stopped the run.
    #[error("a person stopped the run: {0}")]
    Stopped(String),
    /// A limit of the run was reached.
    #[error(
        "the run reached its limit `{0}`; raise it in `RunLimits`, or set `LimitBehavior::StopWithPartial`"
    )]
    LimitReached(LimitKind),
    /// A bound of the executor is zero.
    #[error(transparent)]
    Bounds(#[from] ZeroBound),
    /// Tools need what the harness does not have. The run did not start: no model was asked.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    NotProvided(Vec<MissingNeed>),
    /// A store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Something that a tool injects and the harness does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the tool `{tool}` injects {need}")]
pub struct MissingNeed {
    /// The tool's canonical name.
    pub tool: String,
    /// What is missing.
    pub need: Missing,
}

/// What is missing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Missing {
    /// A credential.
    #[error("the credential `{name}`: {reason}")]
    Credential {
        /// Its name.
        name: String,
        /// Why it could not be had.
        reason: String,
    },
    /// A resource of this type.
    #[error(
        "a resource of type `{0}`, which the harness does not have; add one with `AgentHarness::with_resource`"
    )]
    Resource(String),
}

impl TinyAgentsError {
    /// The error as a tool's: a tool error as it is, anything else as one that ends the run.
    pub fn into_tool_error(self) -> ToolError {
        match self {
            Self::Tool(error) => error,
            other => ToolError::fatal(other.to_string()).with_source(other),
        }
    }
}

impl From<ToolError> for TinyAgentsError {
    fn from(error: ToolError) -> Self {
        Self::Tool(error)
    }
}
