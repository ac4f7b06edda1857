//! Showing a run only some of the tools.

use std::collections::HashSet;
use std::sync::Arc;

use async_trait::async_trait;

use super::Middleware;
use crate::Result;
use crate::harness::context::RunContext;
use crate::harness::model::ModelRequest;

/// Shows the model only the named tools. A call of any other is a call of an unknown tool: it never runs, and
/// `RunPolicy::unknown_tool` says what happens then.
#[derive(Debug, Clone)]
pub struct ToolAllowlist {
    names: HashSet<String>,
}

impl ToolAllowlist {
    /// Allows the tools of these canonical names.
    pub fn new<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        Self { names: names.into_iter().map(Into::into).collect() }
    }
}

#[async_trait]
impl<S: Send + Sync, C: Send + Sync> Middleware<S, C> for ToolAllowlist {
    async fn before_model(&self, _: &RunContext<C>, request: &mut ModelRequest) -> Result<()> {
        let shown: HashSet<String> =
            self.names.iter().map(|name| request.shown_name(name).to_string()).collect();
        Arc::make_mut(&mut request.tools).retain(|tool| shown.contains(&tool.name));
        Ok(())
    }
}
