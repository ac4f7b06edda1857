//! A secret of a type that is made of no text

use tinyagents::prelude::*;

struct Key;

/// Does a thing.
#[tool]
fn take(#[inject("KEY")] key: Secret<Key>) {
    let _ = key;
}

fn main() -> tinyagents::Result<()> {
    let mut harness: AgentHarness<()> = AgentHarness::new();
    harness.register_tool(Take)?;
    Ok(())
}
