//! Showing a run only some of the tools.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;

use super::Middleware;
use crate::Result;
use crate::harness::context::RunContext;
use crate::harness::model::ModelRequest;
use crate::harness::tool::ToolSchema;

/// Shows the model only the named tools. A call of any other is a call of an unknown tool: it never runs, and
/// `RunPolicy::unknown_tool` says what happens then.
#[derive(Debug, Clone)]
pub struct ToolAllowlist {
    names: HashSet<String>,
    /// The tools of the last request and those of them that were shown: most turns have the same.
    last: Arc<Mutex<Option<(Tools, Tools)>>>,
}

type Tools = Arc<Vec<ToolSchema>>;

impl ToolAllowlist {
    /// Allows the tools of these canonical names.
    pub fn new<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        Self { names: names.into_iter().map(Into::into).collect(), last: Arc::default() }
    }

    fn shown(&self, request: &ModelRequest) -> Tools {
        let shown: HashSet<&str> = self.names.iter().map(|name| request.shown_name(name)).collect();
        let allowed = |tool: &&ToolSchema| shown.contains(tool.name.as_str());
        Arc::new(request.tools.iter().filter(allowed).cloned().collect())
    }
}

#[async_trait]
impl<S: Send + Sync, C: Send + Sync> Middleware<S, C> for ToolAllowlist {
    async fn before_model(&self, _: &RunContext<C>, request: &mut ModelRequest) -> Result<()> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let shown = match &*last {
            Some((all, shown)) if Arc::ptr_eq(all, &request.tools) => Arc::clone(shown),
            _ => {
                let shown = self.shown(request);
                *last = Some((Arc::clone(&request.tools), Arc::clone(&shown)));
                shown
            }
        };
        request.tools = shown;
        Ok(())
    }
}
