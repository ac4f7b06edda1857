//! One mistake in the attribute is one error, and the tool's name, parameters and function stay known.

use tinyagents::prelude::*;

/// Does a thing.
#[tool(timeout = "soon")]
async fn take(text: String, #[inject] state: &u8) -> String {
    format!("{text}{state}")
}

#[tokio::main]
async fn main() {
    let mut harness: AgentHarness<u8> = AgentHarness::new();
    let _ = harness.register_tool(Take);
    let _ = (Take::NAME, Take::PARAMETERS, Take::policy(), Take::spec());
    let _: String = take("a".into(), &1).await;
}
