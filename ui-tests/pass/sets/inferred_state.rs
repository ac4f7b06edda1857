//! A set takes the state of the harness that it is handed to, in one expression or through a function.

use tinyagents::harness::tool::Provide;
use tinyagents::prelude::*;

struct Index(u8);

#[derive(ToolState)]
struct App {
    index: Index,
}

/// Search.
#[tool]
async fn search(#[inject] index: &Index) -> u8 {
    index.0
}

/// Fetch.
#[tool]
async fn fetch(#[inject] run: RunId) -> String {
    run.to_string()
}

/// For every state that provides what the tools inject.
fn all<S: Provide<Index> + Send + Sync>() -> Toolset<S> {
    toolset![Search, Fetch]
}

fn main() -> tinyagents::Result<()> {
    let mut app: AgentHarness<App> = AgentHarness::new();
    app.register_tools(toolset![Search, Fetch])?;
    let mut bare: AgentHarness<Index> = AgentHarness::new();
    bare.register_tools(all())?;
    assert_eq!((app.tools().len(), bare.tools().len()), (2, 2));
    let _ = App { index: Index(1) }.index;
    Ok(())
}
