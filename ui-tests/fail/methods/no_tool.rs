//! A block without a tool.

use tinyagents::prelude::*;

struct Files;

#[tools]
impl Files {
    /// Read a file.
    async fn read(&self, path: String) -> String {
        path
    }
}

fn main() {
    let _ = Files.read(String::new());
}
