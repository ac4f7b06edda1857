//! What a tool may do: the policy it declares, and the gate that reads it.
//!
//! Guarantee: what a tool declares cannot be loosened later, and a tool that declares nothing is
//! unclassified, so that strict rules can refuse it.
//!
//! Read from JSON, a policy with an unknown key is refused: a misspelt restriction must not be none.
//!
//! A declared policy on in-process code is a promise, not a wall.

mod approval;
mod gate;
mod redact;

pub use super::workspace::SandboxMode;
pub use approval::{Approval, ApprovalRequest, Approver};
pub(crate) use gate::decide;
pub(crate) use redact::{is_hidden, redacted};

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::context::ExtraArgs;

/// The safety profile of a tool: its effects, how it must run, and what it needs.
///
/// ```
/// use tinyagents::harness::policy::{SandboxMode, ToolPolicy, ToolRuntimePolicy};
///
/// let policy = ToolPolicy::read_only()
///     .with_runtime(ToolRuntimePolicy { sandbox: SandboxMode::Required, ..Default::default() });
/// assert!(policy.classified && policy.side_effects.read_only);
/// assert!(!ToolPolicy::default().classified);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ToolPolicy {
    /// Whether anything was declared. Strict rules refuse a tool that is not.
    pub classified: bool,
    /// What the tool does to the world.
    pub side_effects: ToolSideEffects,
    /// How it must run.
    pub runtime: ToolRuntimePolicy,
    /// What it needs access to.
    pub access: ToolAccess,
    /// Paths of arguments and structured results, such as `user.email`, that captured payloads never show.
    pub redact: Vec<String>,
}

impl ToolPolicy {
    /// A classified policy without side effects.
    pub fn read_only() -> Self {
        Self::classified().with_side_effects(ToolSideEffects { read_only: true, ..Default::default() })
    }

    /// A policy that was declared, with nothing granted yet.
    pub fn classified() -> Self {
        Self { classified: true, ..Self::default() }
    }

    /// Sets the side effects and keeps the other parts.
    pub fn with_side_effects(self, side_effects: ToolSideEffects) -> Self {
        Self { side_effects, ..self }
    }

    /// Sets how the tool must run and keeps the other parts.
    pub fn with_runtime(self, runtime: ToolRuntimePolicy) -> Self {
        Self { runtime, ..self }
    }

    /// Sets what the tool needs and keeps the other parts.
    pub fn with_access(self, access: ToolAccess) -> Self {
        Self { access, ..self }
    }

    /// Whether the tool only reads: classified, declared `read_only`, no writing effect, and no more of the
    /// workspace than reading it.
    pub fn is_read_only(&self) -> bool {
        self.classified
            && self.side_effects.read_only
            && !self.side_effects.writes()
            && self.access.workspace <= WorkspaceAccess::Read
    }
}

/// What a tool does to the world.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ToolSideEffects {
    /// It changes nothing that anybody could observe.
    pub read_only: bool,
    /// It writes, moves or deletes files.
    pub writes_files: bool,
    /// It talks to the network.
    pub network: bool,
    /// It installs software.
    pub installs_dependencies: bool,
    /// What it does cannot be undone.
    pub destructive: bool,
    /// It changes something at a service that others see.
    pub external_service: bool,
    /// It spends money.
    pub payment: bool,
    /// It starts processes.
    pub process: bool,
}

impl ToolSideEffects {
    /// Whether any effect changes the world. The network alone does not: a web search reads.
    pub fn writes(&self) -> bool {
        self.writes_files
            || self.installs_dependencies
            || self.destructive
            || self.external_service
            || self.payment
            || self.process
    }
}

/// How a tool must run. The specification names this part `ToolRuntime`, which here is the handle of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ToolRuntimePolicy {
    /// Whether it needs a sandbox.
    pub sandbox: SandboxMode,
    /// The longest time the body may take, in milliseconds.
    pub timeout_ms: Option<u64>,
    /// How often a call that failed transiently may be made again.
    pub max_retries: u32,
    /// Whether making the same call twice has the effect of making it once.
    pub idempotent: bool,
    /// Whether the body ends early when its cancellation token says so.
    pub cancelable: bool,
    /// The most bytes of output that the model is shown; the harness has a bound of its own if this is absent.
    pub max_result_bytes: Option<u64>,
    /// Whether it reports progress while it runs.
    pub streaming: bool,
    /// How many calls of it may run side by side; no bound of its own if this is absent, and never zero.
    pub max_concurrency: Option<u32>,
    /// Whether a good result is the run's answer, without another turn of the model, where the call is the only one
    /// of its turn.
    pub return_direct: bool,
    /// Whether the same call may be repeated on purpose, so that it is no sign of a model that goes in circles.
    pub polling: bool,
    /// What happens to a field of the arguments that no parameter has; the run's policy says so if this is absent.
    pub extra_args: Option<ExtraArgs>,
}

impl ToolRuntimePolicy {
    /// The timeout as a duration.
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout_ms.map(Duration::from_millis)
    }
}

/// What a tool needs access to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ToolAccess {
    /// How much of the workspace.
    pub workspace: WorkspaceAccess,
    /// Directories it may use.
    pub trusted_roots: Vec<String>,
    /// Names of credentials; never their values.
    pub credentials: Vec<String>,
    /// Whether a person must approve each call.
    pub approval_required: bool,
    /// Whether it may run with nobody watching.
    pub background_safe: bool,
}

/// How much of the workspace a tool uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkspaceAccess {
    /// Nothing.
    #[default]
    None,
    /// It reads.
    Read,
    /// It reads and writes below the trusted roots.
    Scoped,
    /// Anything the process may touch.
    Any,
}
