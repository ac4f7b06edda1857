//! Strict lints of the user's crate say nothing about what the macros write for blocks, sets and types.

#![deny(
    missing_docs,
    unused,
    unreachable_pub,
    missing_debug_implementations,
    missing_copy_implementations,
    private_bounds,
    private_interfaces,
    non_local_definitions,
    unused_qualifications,
    elided_lifetimes_in_paths,
    single_use_lifetimes,
    clippy::all,
    clippy::pedantic
)]
#![forbid(unsafe_code)]

use std::sync::Arc;

use tinyagents::prelude::*;

/// A client.
#[derive(Debug, Clone, Copy)]
struct Client(u8);

/// A page.
#[tool_type]
#[derive(Debug, Clone, Copy)]
pub struct Page {
    /// The number.
    pub number: u8,
}

#[tools]
impl Client {
    /// Read a page.
    #[tool(read_only)]
    pub(crate) async fn read(&self, page: Page, name: &str, #[inject] run: RunId) -> Page {
        let _ = (name, run);
        std::future::ready(Page { number: page.number + self.0 }).await
    }

    /// Never used but by a model.
    #[tool]
    #[deprecated]
    fn skip(self: &Arc<Self>, pages: u8) -> u8 {
        self.0 + pages
    }
}

#[tools(fn unused_tools)]
impl Client {
    /// In a set that nobody asks for.
    #[tool]
    fn alone() -> u8 {
        1
    }
}

fn main() -> tinyagents::Result<()> {
    let mut harness: AgentHarness<()> = AgentHarness::new();
    harness.register_tools(toolset![Arc::new(Client(1)).tools()])?;
    assert_eq!(harness.tools().len(), 2);
    Ok(())
}
