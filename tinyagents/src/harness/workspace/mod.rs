//! Where a run's tools may work.
//!
//! The descriptor states a root and whether processes run in a sandbox. It is a statement, not a wall: an
//! in-process tool is trusted to keep to it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The directory a run works in, and what protects the rest of the machine from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkspaceDescriptor {
    /// The directory.
    pub root: PathBuf,
    /// Directories below the root, or absolute ones, that tools may use.
    #[serde(default)]
    pub trusted_roots: Vec<PathBuf>,
    /// The application's name for the rules of this workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy_id: Option<String>,
    /// Whether what runs in the workspace is sandboxed. A tool that requires a sandbox runs only where this is
    /// [`SandboxMode::Required`].
    #[serde(default)]
    pub sandbox: SandboxMode,
}

impl WorkspaceDescriptor {
    /// A workspace without a sandbox.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), trusted_roots: Vec::new(), policy_id: None, sandbox: SandboxMode::Inherit }
    }

    /// States whether the workspace is sandboxed.
    pub fn with_sandbox(mut self, sandbox: SandboxMode) -> Self {
        self.sandbox = sandbox;
        self
    }
}

/// Whether a tool, or a workspace, is sandboxed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxMode {
    /// As the run is.
    #[default]
    Inherit,
    /// Explicitly not.
    Disabled,
    /// It must be; without a sandbox the tool is refused.
    Required,
}
