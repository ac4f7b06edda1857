//! The names of injected secrets stand in the policy, once, and classify nothing by themselves.

use tinyagents::harness::policy::ToolPolicy;
use tinyagents::prelude::*;

/// Declares nothing else.
#[tool]
fn bare(#[inject("B")] _b: Secret<String>, #[inject("A")] _a: Secret<String>) {}

/// Lists one of them.
#[tool(network, credentials("A", "C"))]
fn listed(#[inject("B")] _b: Secret<String>, #[inject("A")] _a: Secret<String>) {}

/// Has none.
#[tool]
fn without(#[inject] _run: RunId) {}

fn main() {
    assert!(!Bare::policy().classified);
    assert_eq!(Bare::policy().access.credentials, ["B", "A"]);
    assert!(Listed::policy().classified && Listed::policy().side_effects.network);
    assert_eq!(Listed::policy().access.credentials, ["A", "C", "B"]);
    assert_eq!(Without::policy(), ToolPolicy::default());
    let needs = Tool::<()>::needs(&Bare);
    assert_eq!(needs.credentials(), ["B", "A"]);
    assert_eq!(Tool::<()>::needs(&Without), Needs::default());
}
