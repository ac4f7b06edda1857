//! Strict lints of the user's crate say nothing about what the macro writes.

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

use tinyagents::prelude::*;

/// A state.
#[derive(Debug, Clone, Copy, ToolState)]
pub struct App {
    /// A part.
    pub part: u8,
}

#[derive(Debug)]
struct Private;

impl<S, C> Inject<S, C> for Private {
    fn inject(_: &InjectContext<'_, S, C>) -> Result<Self, ToolError> {
        Ok(Self)
    }
}

/// Documented.
#[tool(read_only, timeout = "1s")]
#[allow(clippy::unused_async, clippy::trivially_copy_pass_by_ref)]
pub async fn documented(text: &str, #[arg(default = 1)] count: u8, #[inject] part: &u8) -> String {
    format!("{text}{count}{part}")
}

/// Injects what others cannot name.
#[tool]
fn hidden(#[inject] private: Private) -> String {
    format!("{private:?}")
}

fn main() {
    let mut harness: AgentHarness<App> = AgentHarness::new();
    assert!(harness.register_tool(Documented).is_ok() && harness.register_tool(Hidden).is_ok());
    assert_eq!(Documented::PARAMETERS, ["text", "count"]);
    assert_eq!(Hidden::PARAMETERS, [""; 0]);
}
