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
pub use error::{Result, TinyAgentsError};
pub use tinyagents_macros::{ToolState, tool};
pub use tokio_util::sync::CancellationToken;
pub use {schemars, serde, serde_json};

/// The programs of the README are compiled and run like those of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
