//! An alias hides the name from the macro, not from the compiler

use tinyagents::prelude::*;

type Token = Secret<String>;

/// Does a thing.
#[tool]
fn take(#[inject] token: Token) {
    let _ = token;
}

fn main() -> tinyagents::Result<()> {
    let mut harness: AgentHarness<()> = AgentHarness::new();
    harness.register_tool(Take)?;
    Ok(())
}
