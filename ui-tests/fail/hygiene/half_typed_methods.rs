//! Half-typed words: every other use of the block still resolves.

use std::sync::Arc;

use tinyagents::prelude::*;

struct Files(u8);

#[tools(pub fn)]
impl Files {
    /// Read a file.
    #[tool(read_only)]
    async fn read(&self, path: String) -> usize {
        path.len()
    }
}

fn main() -> tinyagents::Result<()> {
    let files = Arc::new(Files(1));
    let mut harness: AgentHarness<()> = AgentHarness::new();
    harness.register_tools(files.tools())?.register_tool(FilesRead(Arc::clone(&files)))?;
    let _ = (FilesRead::NAME, files.0, files.read(String::new()));
    Ok(())
}
