//! A type that does not exist is reported once.

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
fn take(point: Piont, #[arg(default)] other: Option<String>, text: String) -> String {
    let _ = (point, other);
    text
}

fn main() {
    let _ = (Take::NAME, Take::PARAMETERS);
    let _: AgentHarness<()> = {
        let mut harness = AgentHarness::new();
        let _ = harness.register_tool(Take);
        harness
    };
}
