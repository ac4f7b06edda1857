//! Tools that are known only at run time.

use std::future::Future;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use super::{
    Arguments, IntoToolOutput, JsonSchema, Tool, ToolCall, ToolCallId, ToolError, ToolResult, ToolRuntime,
    ToolSpec, Validation,
};
use crate::Result;
use crate::harness::event::EventSink;
use crate::harness::id::RunId;
use crate::harness::policy::ToolPolicy;
use crate::harness::store::StoreRegistry;

/// What a [`DynTool`]'s closure gets beside the arguments.
#[derive(Debug, Clone)]
pub struct CallContext {
    /// The run.
    pub run_id: RunId,
    /// The call.
    pub call_id: ToolCallId,
    /// The sink for this call's events.
    pub events: EventSink,
    /// Stores and artifacts.
    pub stores: StoreRegistry,
    /// Says when the call should end early.
    pub cancellation: CancellationToken,
}

/// A tool made of a name, a schema, a policy and a closure.
///
/// ```
/// use tinyagents::harness::policy::ToolPolicy;
/// use tinyagents::harness::tool::{DynTool, ToolError};
/// use tinyagents::serde_json::json;
///
/// let greet = DynTool::new(
///     "greet",
///     json!({
///         "type": "object",
///         "description": "Greet somebody.",
///         "properties": { "name": { "type": "string" } },
///         "required": ["name"]
///     }),
///     ToolPolicy::read_only(),
///     |arguments, _call| async move {
///         Ok::<_, ToolError>(format!("Hello, {}!", arguments["name"].as_str().unwrap_or("you")))
///     },
/// );
/// ```
pub struct DynTool<F> {
    spec: ToolSpec,
    policy: ToolPolicy,
    body: F,
}

impl<F> DynTool<F> {
    /// A tool. Its description is the schema's `description`; [`with_description`](Self::with_description) sets
    /// another. Name and schema are checked when it is registered.
    pub fn new<Fut, T>(
        name: impl AsRef<str>,
        schema: impl Into<JsonSchema>,
        policy: ToolPolicy,
        body: F,
    ) -> Self
    where
        F: Fn(Arguments, CallContext) -> Fut + Send + Sync,
        Fut: Future<Output = Result<T, ToolError>> + Send,
        T: IntoToolOutput,
    {
        let schema = schema.into();
        let description = schema.get("description").and_then(|text| text.as_str()).unwrap_or_default();
        let spec = ToolSpec::new(name, description, schema.clone()).with_policy(&policy);
        Self { spec, policy, body }
    }

    /// Sets what the model is told of the tool.
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.spec.description = description.into();
        self
    }

    /// Sets how much of its schema is enforced; [`Validation::Subset`] otherwise.
    pub fn with_validation(mut self, validation: Validation) -> Self {
        self.spec.validation = validation;
        self
    }
}

#[async_trait]
impl<S, C, F, Fut, T> Tool<S, C> for DynTool<F>
where
    S: Send + Sync,
    C: Send + Sync,
    F: Fn(Arguments, CallContext) -> Fut + Send + Sync,
    Fut: Future<Output = Result<T, ToolError>> + Send,
    T: IntoToolOutput,
{
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    fn policy(&self) -> ToolPolicy {
        self.policy.clone()
    }

    async fn call(&self, _: &S, runtime: ToolRuntime<'_, C>, call: ToolCall) -> Result<ToolResult> {
        let context = CallContext {
            run_id: runtime.ctx.run_id().clone(),
            call_id: call.id.clone(),
            events: runtime.events.clone(),
            stores: runtime.stores.clone(),
            cancellation: runtime.cancellation,
        };
        let output = (self.body)(call.arguments.clone(), context).await?;
        Ok(output.into_tool_output()?.into_result(&call))
    }
}
