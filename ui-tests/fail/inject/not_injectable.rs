//! Nothing makes such a value.

use tinyagents::prelude::*;

struct Clock;

/// Does a thing.
#[tool]
async fn now(#[inject] clock: Clock) {
    let _ = clock;
}

fn main() -> tinyagents::Result<()> {
    let mut harness: AgentHarness<()> = AgentHarness::new();
    harness.register_tool(Now)?;
    Ok(())
}
