//! All mistakes of a block in one pass, and none that follows from another.

use std::sync::Arc;

use tinyagents::prelude::*;

struct Files;

#[tools]
impl Files {
    /// Read a file.
    #[tool(redonly)]
    async fn read(&self, (path, line): (String, u32), #[inject] #[arg(name = "x")] run: RunId) -> String {
        format!("{path}{line}{run}")
    }

    #[tool]
    async fn undescribed(&self, cancel: CancellationToken) {
        drop(cancel);
    }

    /// Good.
    #[tool]
    async fn good(&self, #[inject] files: &Other) -> usize {
        files.0
    }
}

struct Other(usize);

fn main() -> tinyagents::Result<()> {
    let files = Arc::new(Files);
    let mut harness: AgentHarness<()> = AgentHarness::new();
    harness.register_tools(files.tools())?.register_tool(FilesRead(Arc::clone(&files)))?;
    let _ = (FilesGood::PARAMETERS, files.undescribed(CancellationToken::new()));
    Ok(())
}
