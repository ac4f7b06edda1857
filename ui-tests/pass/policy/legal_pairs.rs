//! Pairs that look odd and are legal: a deletion may be repeated, a reader may be retried and use the network.

use tinyagents::prelude::*;

/// Delete a file, once or again.
#[tool(idempotent, destructive)]
fn delete_file() {}

/// Read, again if need be.
#[tool(read_only, retries = 2, network)]
fn read_page() {}

/// In a sandbox that may read.
#[tool(process, sandbox = "required", workspace = "read")]
fn run_checks() {}

fn main() {
    let policy = DeleteFile::policy();
    assert!(policy.runtime.idempotent && policy.side_effects.destructive && !policy.is_read_only());
    let policy = ReadPage::policy();
    assert_eq!((policy.runtime.max_retries, policy.side_effects.network), (2, true));
    assert!(policy.side_effects.read_only);
    assert!(RunChecks::policy().side_effects.process);
}
