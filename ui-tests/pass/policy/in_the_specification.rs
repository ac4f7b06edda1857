//! What the specification derives from the policy: safety, timeout, retries, idempotency, redaction.

use std::time::Duration;

use tinyagents::harness::policy::WorkspaceAccess;
use tinyagents::harness::tool::{RetryPolicy, ToolSafety};
use tinyagents::prelude::*;

/// Pay a bill.
#[tool(
    payment,
    network,
    idempotent,
    retries = 2,
    timeout = "5s",
    workspace = "scoped",
    trusted_roots("bills"),
    approval_required,
    redact("card")
)]
fn pay_bill(card: String) -> usize {
    card.len()
}

fn main() {
    let spec = PayBill::spec();
    let expected = ToolSafety {
        read_only: false,
        idempotent: true,
        networked: true,
        filesystem: WorkspaceAccess::Scoped,
        process: false,
        spends: true,
        requires_confirmation: true,
        allowed_roots: vec!["bills".into()],
        redact: vec!["card".into()],
    };
    assert_eq!(spec.safety, expected);
    assert_eq!(spec.timeout, Some(Duration::from_secs(5)));
    assert_eq!(spec.retry.as_ref().map(|RetryPolicy { max_retries, .. }| *max_retries), Some(2));
}
