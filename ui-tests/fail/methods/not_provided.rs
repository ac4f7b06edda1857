//! A set for a harness whose state lacks what a method injects.

use std::sync::Arc;

use tinyagents::prelude::*;

struct Index;
struct Files;

#[tools]
impl Files {
    /// Read a file.
    #[tool]
    async fn read(&self, #[inject] index: &Index) {
        let _ = index;
    }
}

fn main() -> tinyagents::Result<()> {
    let files = Arc::new(Files);
    let mut harness: AgentHarness<String> = AgentHarness::new();
    harness.register_tools(files.tools())?;
    Ok(())
}
