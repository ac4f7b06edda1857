//! The function is not the tool: its type is.

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
fn take() {}

fn main() {
    let mut harness: AgentHarness<()> = AgentHarness::new();
    let _ = harness.register_tool(take);
}
