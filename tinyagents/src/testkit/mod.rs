//! For tests of tools and agents: a scripted model, a scripted approver, one call without a model, a clock and ids that
//! repeat.

mod approver;
mod credentials;
mod scripted;

pub use approver::ScriptedApprover;
pub use credentials::FixedCredentials;
pub use scripted::ScriptedModel;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::harness::context::{ArgumentRepair, RunConfig, RunPolicy};
use crate::harness::id::RunId;
use crate::harness::message::ToolCall;
use crate::harness::runtime::AgentHarness;
use crate::harness::source::{Clock, IdSource};
use crate::harness::tool::{Shared, Tool, ToolResult};

/// A clock that stands still, so that events repeat byte for byte.
#[derive(Debug, Clone, Copy, Default)]
pub struct FixedClock;

impl Clock for FixedClock {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }
}

/// Ids that count: `run_1`, `run_2`, and so on.
#[derive(Debug, Default)]
pub struct CountedIds(AtomicU64);

impl IdSource for CountedIds {
    fn run_id(&self) -> RunId {
        format!("run_{}", self.0.fetch_add(1, Ordering::Relaxed) + 1).into()
    }
}

/// Takes one call of a tool through validation, injection, policy and bounds, without a model.
///
/// Use [`AgentHarness::call_tool`] where the tool needs a workspace, stores or hooks.
///
/// ```
/// use tinyagents::prelude::*;
/// use tinyagents::testkit;
///
/// /// Greet somebody.
/// #[tool(read_only)]
/// fn greet(name: String, #[inject] greeting: &String) -> String {
///     format!("{greeting}, {name}!")
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> tinyagents::Result<()> {
/// let state = "Hello".to_string();
/// let result = testkit::call(&Greet, &state, json!({ "name": "Ada" })).await?;
/// assert_eq!(result.content, [ContentBlock::text("Hello, Ada!")]);
/// assert!(testkit::call(&Greet, &state, json!({ "name": 5 })).await?.is_error);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// The tool cannot be registered. Everything else is in the result.
pub async fn call<S, T>(tool: &T, state: impl Into<Shared<S>>, arguments: Value) -> crate::Result<ToolResult>
where
    S: Send + Sync + 'static,
    T: Tool<S> + Clone + 'static,
{
    let mut harness: AgentHarness<S> = AgentHarness::new();
    // A test is told of a wrong argument, as it would not be by a repair.
    let policy = RunPolicy { repair: ArgumentRepair::Off, ..RunPolicy::recovering() };
    harness.register_tool(tool.clone())?.with_policy(policy);
    let ctx = harness.context(RunConfig::default(), ());
    let call = ToolCall::new("call_1", Tool::<S>::spec(tool).name.as_str(), arguments);
    Ok(harness.call_tool(state, ctx, call).await)
}
