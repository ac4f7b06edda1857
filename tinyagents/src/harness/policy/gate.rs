//! The gate: may this call run in this run?

use super::{SandboxMode, ToolPolicy};
use crate::harness::event::Decision;
use crate::harness::workspace::WorkspaceDescriptor;

/// A decision and what it rests on. The reason of a refusal is told to the model.
pub(crate) struct Verdict {
    pub(crate) decision: Decision,
    pub(crate) reason: &'static str,
}

/// Decides on a call from its tool's policy.
///
/// Fails closed: what the policy asks for and the run cannot give is a refusal, never a call without it.
pub(crate) fn decide(policy: &ToolPolicy, workspace: Option<&WorkspaceDescriptor>) -> Verdict {
    let deny = |reason: &'static str| Verdict { decision: Decision::Deny, reason };
    let sandboxed = workspace.is_some_and(|workspace| workspace.sandbox == SandboxMode::Required);
    if policy.runtime.sandbox == SandboxMode::Required && !sandboxed {
        return deny("it must run in a sandbox, and this run has none");
    }
    if policy.access.approval_required {
        return Verdict { decision: Decision::Ask, reason: "the tool requires an approval" };
    }
    let reason = if !policy.classified {
        "unclassified"
    } else if policy.is_read_only() {
        "read-only"
    } else {
        "declared effects"
    };
    Verdict { decision: Decision::Allow, reason }
}
