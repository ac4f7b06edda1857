//! Words that `#[tools]` does not know.

use std::sync::Arc;

use tinyagents::prelude::*;

struct Files;

#[tools(read_only)]
impl Files {
    /// Read a file.
    #[tool(readonly)]
    async fn read(&self, path: String) -> String {
        path
    }
}

fn main() {
    let set: Toolset<()> = Arc::new(Files).tools();
    let _ = set;
}
