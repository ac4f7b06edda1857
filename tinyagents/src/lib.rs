#![doc = include_str!("../docs/guide.md")]

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
mod error;
pub mod harness;
pub mod prelude;
pub mod provider;
pub mod testkit;

pub use async_trait::async_trait;
pub use error::{Missing, MissingNeed, Result, TinyAgentsError};
pub use tinyagents_macros::{ToolState, tool, tool_type, tools};
pub use tokio_util::sync::CancellationToken;
pub use {schemars, serde, serde_json};

/// Builds a [`Toolset`](harness::tool::Toolset) for the state where it is used: `toolset![Search, Fetch, github.tools()]`.
///
/// An entry is a tool, or an expression that gives a tool or another set. Two tools of one name do not compile, as far
/// as their names are known to the compiler: those that `#[tool]` wrote, given by their type. The others are compared
/// when a registry takes the set. `#[cfg(..)]` before an entry leaves it out.
///
/// ```
/// use tinyagents::prelude::*;
///
/// /// Add two numbers.
/// #[tool(read_only)]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// let mut harness: AgentHarness<()> = AgentHarness::new();
/// harness.register_tools(toolset![Add])?;
/// # Ok::<(), tinyagents::TinyAgentsError>(())
/// ```
#[macro_export]
macro_rules! toolset {
    ($($entries:tt)*) => {
        $crate::__private::toolset! { [$crate] $($entries)* }
    };
}

/// The programs of the README are compiled and run like those of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;

/// So are those of the attribute's page, where the macro's own crate cannot use the library.
#[cfg(doctest)]
#[doc = include_str!("../../tinyagents-macros/docs/tool.md")]
pub struct ToolGuide;
