//! Two blocks of one type: the second needs `#[tools(fn other_tools)]`.

use tinyagents::prelude::*;

struct Files;

#[tools]
impl Files {
    /// Read a file.
    #[tool]
    async fn read(&self, path: String) -> String {
        path
    }
}

#[tools]
impl Files {
    /// Write a file.
    #[tool]
    async fn write(&self, path: String) -> String {
        path
    }
}

fn main() {
    let _ = Files;
}
