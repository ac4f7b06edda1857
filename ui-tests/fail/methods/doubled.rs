//! `#[tool]` twice on one method, and the path of the crate in both places.

use tinyagents::prelude::*;

struct Files;

#[tools(crate = tinyagents)]
impl Files {
    /// Read a file.
    #[tool(read_only)]
    #[tool(name = "read_it")]
    async fn read(&self, path: String) -> String {
        path
    }

    /// Write a file.
    #[tool(crate = tinyagents)]
    async fn write(&self, path: String) -> String {
        path
    }
}

fn main() {
    let _ = (FilesRead::NAME, FilesWrite::NAME);
}
