//! `#[tool]` behind `cfg_attr`, which the block's attribute cannot decide.

use tinyagents::prelude::*;

struct Files;

#[tools]
impl Files {
    /// Read a file.
    #[cfg_attr(all(), tool(read_only))]
    async fn read(&self, path: String) -> String {
        path
    }
}

fn main() {
    let _ = Files.read(String::new());
}
