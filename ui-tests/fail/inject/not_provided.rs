//! The state has no such part: reported where the state is known.

use tinyagents::prelude::*;

struct Index;

#[derive(Clone, ToolState)]
struct App {
    name: String,
}

/// Does a thing.
#[tool]
async fn search(#[inject] index: &Index) {
    let _ = index;
}

fn main() -> tinyagents::Result<()> {
    let mut harness: AgentHarness<App> = AgentHarness::new();
    harness.register_tool(Search)?;
    Ok(())
}
