//! All mistakes of one tool in one pass, and none that follows from another.

use tinyagents::prelude::*;

#[tool(redonly, timeout = "x")]
async fn take(cancel: CancellationToken, (a, b): (u8, u8), #[arg(nam = "x")] c: u8) -> u8 {
    a + b + c
}

fn main() -> tinyagents::Result<()> {
    let mut harness: AgentHarness<()> = AgentHarness::new();
    harness.register_tool(Take)?;
    let _ = (Take::NAME, Take::PARAMETERS, Take::policy(), Take::spec());
    Ok(())
}
