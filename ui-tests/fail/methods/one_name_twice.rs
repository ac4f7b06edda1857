//! Two methods with one name for the model.

use tinyagents::prelude::*;

struct Files;

#[tools]
impl Files {
    /// Read a file.
    #[tool]
    async fn read(&self, path: String) -> String {
        path
    }

    /// Read a line.
    #[tool(name = "read")]
    async fn read_line(&self, path: String, line: u32) -> String {
        format!("{path}:{line}")
    }
}

fn main() {
    let _ = (FilesRead::NAME, FilesReadLine::NAME);
}
