//! `#[tool]` on something else in the block.

use tinyagents::prelude::*;

struct Files;

#[tools]
impl Files {
    /// The root.
    #[tool]
    const ROOT: &'static str = "/";

    /// Read a file.
    #[tool]
    async fn read(&self, path: String) -> String {
        path
    }
}

fn main() {
    let _ = (Files::ROOT, FilesRead::NAME);
}
