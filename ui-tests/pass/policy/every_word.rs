//! Every word of the policy arrives in its field.

use tinyagents::harness::context::ExtraArgs;
use tinyagents::harness::policy::{
    SandboxMode, ToolAccess, ToolPolicy, ToolRuntimePolicy, ToolSideEffects, WorkspaceAccess,
};
use tinyagents::prelude::*;

/// Effects.
#[tool(
    writes_files,
    network,
    installs_dependencies,
    destructive,
    external_service,
    payment,
    process,
    sandbox = "required",
    timeout = "2m",
    retries = 3,
    idempotent,
    max_result_bytes = "64KiB",
    streaming,
    cancelable,
    concurrency = 4,
    return_direct,
    polling,
    extra_args = "drop_with_notice",
    workspace = "scoped",
    trusted_roots("src", "docs"),
    credentials("GITHUB_TOKEN"),
    approval_required,
    background_safe,
    redact("user.email", "key")
)]
async fn everything() {}

/// Reads.
#[tool(read_only, sandbox = "disabled", workspace = "read", extra_args = "deny")]
async fn reads() {}

fn main() {
    let expected = ToolPolicy {
        classified: true,
        side_effects: ToolSideEffects {
            read_only: false,
            writes_files: true,
            network: true,
            installs_dependencies: true,
            destructive: true,
            external_service: true,
            payment: true,
            process: true,
        },
        runtime: ToolRuntimePolicy {
            sandbox: SandboxMode::Required,
            timeout_ms: Some(120_000),
            max_retries: 3,
            idempotent: true,
            cancelable: true,
            max_result_bytes: Some(65_536),
            streaming: true,
            max_concurrency: Some(4),
            return_direct: true,
            polling: true,
            extra_args: Some(ExtraArgs::DropWithNotice),
        },
        access: ToolAccess {
            workspace: WorkspaceAccess::Scoped,
            trusted_roots: vec!["src".into(), "docs".into()],
            credentials: vec!["GITHUB_TOKEN".into()],
            approval_required: true,
            background_safe: true,
        },
        redact: vec!["user.email".into(), "key".into()],
    };
    assert_eq!(Everything::policy(), expected);
    assert_eq!(Tool::<()>::policy(&Everything), expected);

    let mut expected = ToolPolicy::read_only();
    expected.access.workspace = WorkspaceAccess::Read;
    expected.runtime.sandbox = SandboxMode::Disabled;
    expected.runtime.extra_args = Some(ExtraArgs::Deny);
    assert_eq!(Reads::policy(), expected);
    assert!(Reads::policy().is_read_only());
}
