//! A set with a tool that the harness's state does not serve.

use tinyagents::prelude::*;

struct Index;

/// Search.
#[tool]
async fn search(#[inject] index: &Index) {
    let _ = index;
}

/// Add.
#[tool]
fn add(a: u8, b: u8) -> u8 {
    a + b
}

fn main() -> tinyagents::Result<()> {
    let mut harness: AgentHarness<()> = AgentHarness::new();
    harness.register_tools(toolset![Add, Search])?;
    Ok(())
}
