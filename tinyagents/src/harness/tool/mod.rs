//! What a tool is: the trait, its specification, what it receives and returns, and the registry.
//!
//! Guarantee: a registered tool has a checked name, a compiled schema and a policy; what the model may choose
//! and what the runtime provides are different types, so a hidden value cannot reach a schema.
//!
//! Not here: when and how a call runs (`executor`).

pub(crate) mod alias;
pub mod dialect;
mod dynamic;
mod error;
mod inject;
mod injected;
mod output;
mod param;
mod registry;
mod repair;
mod result;
mod shown;
mod spec;
mod toolset;
mod validate;

pub use dynamic::{CallContext, DynTool};
pub use error::{ErrorKind, ToolError};
pub use inject::{Inject, InjectContext, InjectKeyed, Needs, Provide};
pub use injected::{Artifacts, Attempt, Deadline, Progress};
pub(crate) use injected::{CallScope, Provided, Starting};
pub use output::{IntoToolError, IntoToolOutput, Json};
pub use param::{DefaultedArg, ModelArg, RangeEnd, ReadArg, ShownArg};
pub(crate) use registry::RegisteredTool;
pub use registry::{RegistryError, ToolRegistry};
pub(crate) use repair::{Mended, Mending, folded, mend, null_texts};
pub use result::{ToolOutput, ToolResult};
pub use shown::AdaptedTools;
pub(crate) use shown::ToolSet;
pub use spec::{
    Idempotency, InjectedArgSpec, JsonSchema, RetryPolicy, ToolFormat, ToolSafety, ToolSchema, ToolSpec,
    Validation,
};
pub use toolset::{ManyTools, OneTool, Toolset, ToolsetEntry};
pub(crate) use validate::canonical::integral_floats;
pub use validate::{ArgumentProblem, SchemaError, SchemaResources, Validator};
pub(crate) use validate::{MAX_PROBLEMS, nearest::nearest_first};

pub(crate) mod generated {
    //! What generated code uses of this room.
    pub use super::output::{
        Fault, FaultBorrowed, FaultFallback, FaultLocal, FaultTyped, Out, OutFallback, OutValue, Probe,
        ProbeNothing, ProbeResult, ProbeValue, Returned,
    };
    pub use super::param::{Arg, ArgDef, Decl, Decoder, Property, Shown, ToolDef};
    pub use super::toolset::{Unnamed, is_first};
}

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use param::ToolDef;

use super::context::RunContext;
use super::event::EventSink;
use super::policy::ToolPolicy;
use super::store::StoreRegistry;
use crate::Result;

pub use super::credential::Secret;
pub use super::id::{IdempotencyKey, ToolCallId, ToolName, ToolNameError};
pub use super::message::{Arguments, ToolCall};
pub use super::resource::Resource;
pub use super::store::StoreHandle;

/// A capability that a model can call.
///
/// `#[tool]` writes this impl for a function. By hand it needs `spec` and `call`; a tool that does not state its
/// policy is unclassified and counts as mutating.
///
/// ```
/// use tinyagents::harness::tool::{Tool, ToolCall, ToolOutput, ToolResult, ToolRuntime, ToolSpec};
///
/// struct Echo;
///
/// #[tinyagents::async_trait]
/// impl<State: Send + Sync> Tool<State> for Echo {
///     fn spec(&self) -> ToolSpec {
///         ToolSpec::new(
///             "echo",
///             "Repeat a text.",
///             tinyagents::serde_json::json!({
///                 "type": "object",
///                 "properties": { "text": { "type": "string" } },
///                 "required": ["text"]
///             }),
///         )
///     }
///
///     async fn call(
///         &self,
///         _state: &State,
///         _runtime: ToolRuntime<'_>,
///         call: ToolCall,
///     ) -> tinyagents::Result<ToolResult> {
///         let text = call.arguments["text"].as_str().unwrap_or_default();
///         Ok(ToolOutput::text(text).into_result(&call))
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no tool for a harness whose state is `{State}`",
    label = "a tool of that harness must stand here",
    note = "`#[tool]` on the function `search` makes the type `Search`, and that is the tool: `register_tool(Search)`"
)]
#[async_trait]
pub trait Tool<State, Ctx = ()>: Send + Sync {
    /// What the tool is called, what it does, and what it takes.
    fn spec(&self) -> ToolSpec;

    /// Runs one validated call.
    ///
    /// # Errors
    ///
    /// A [`ToolError`] (any other error counts as one that is fatal for the run). The executor turns it into
    /// the call's result.
    async fn call(&self, state: &State, runtime: ToolRuntime<'_, Ctx>, call: ToolCall) -> Result<ToolResult>;

    /// What the tool declares about its safety. Unclassified by default.
    fn policy(&self) -> ToolPolicy {
        self.__generated().map_or_else(ToolPolicy::default, ToolDef::policy)
    }

    /// Whether calls may run beside others: from the policy, and so mutating unless it says otherwise.
    fn class(&self) -> ToolClass {
        if self.policy().is_read_only() { ToolClass::ReadOnly } else { ToolClass::Mutating }
    }

    /// The class of one call: [`class`](Self::class), unless the tool knows better from the arguments. A call may be
    /// stricter than its tool, or looser. A panic counts as mutating.
    fn effect(&self, arguments: &Value) -> ToolClass {
        self.__generated().and_then(|tool| tool.effect(arguments)).unwrap_or_else(|| self.class())
    }

    /// What a person's approval of one call covers: a later call whose keys were all approved needs no other. By
    /// default one key, the exact arguments as JSON with sorted keys. A call without keys is asked about each time.
    fn grant_keys(&self, arguments: &Value) -> Vec<String> {
        let declared = self.__generated().and_then(|tool| tool.grant_keys(arguments));
        declared.unwrap_or_else(|| vec![validate::canonical::sorted_json(arguments)])
    }

    /// What the tool's injected values need of the harness. A run that cannot give it does not start.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Whether the body itself drives nested runs. Only then it gets a
    /// [`ChildRuns`](crate::harness::runtime::ChildRuns), and it is admitted apart from other calls, so that a tree of
    /// runs cannot wait for itself.
    fn is_recursive(&self) -> bool {
        self.__generated().is_some_and(ToolDef::is_recursive)
    }

    /// Whether `call` blocks its thread, so that the executor must give it one of its own.
    fn is_blocking(&self) -> bool {
        self.__generated().is_some_and(ToolDef::is_blocking)
    }

    /// What `#[tool]` knows of the tool. Not part of the public interface.
    #[doc(hidden)]
    fn __generated(&self) -> Option<&'static ToolDef> {
        None
    }
}

/// The side-effect class of a tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ToolClass {
    /// It has no observable side effects.
    ReadOnly,
    /// It may change something: the safe assumption.
    #[default]
    Mutating,
}

/// What a call gets from the run.
///
/// The specification hands out `ctx` as `&mut`; here it is shared, because calls that run side by side cannot
/// share a `&mut`. [`RunContext::update`] records changes.
pub struct ToolRuntime<'a, Ctx = ()> {
    /// The run's context.
    pub ctx: &'a RunContext<Ctx>,
    /// Stores and artifacts.
    pub stores: &'a StoreRegistry,
    /// The sink for this call's events.
    pub events: &'a EventSink,
    /// Says when the call should end early.
    pub cancellation: CancellationToken,
    /// The call's place in its run, for the values that are injected.
    pub(crate) scope: &'a CallScope,
}

/// The application's state as a run holds it: shared, so that a body can outlive the borrow it came from.
///
/// Made from an `Arc<S>`, or from a `&S` that can be cloned.
pub struct Shared<S>(pub(crate) Arc<S>);

impl<S: Clone> From<&S> for Shared<S> {
    fn from(state: &S) -> Self {
        Self(Arc::new(state.clone()))
    }
}

impl<S> From<Arc<S>> for Shared<S> {
    fn from(state: Arc<S>) -> Self {
        Self(state)
    }
}

#[async_trait]
impl<S, C, T> Tool<S, C> for Arc<T>
where
    S: Send + Sync,
    C: Send + Sync,
    T: Tool<S, C> + ?Sized,
{
    fn spec(&self) -> ToolSpec {
        (**self).spec()
    }

    async fn call(&self, state: &S, runtime: ToolRuntime<'_, C>, call: ToolCall) -> Result<ToolResult> {
        (**self).call(state, runtime, call).await
    }

    fn policy(&self) -> ToolPolicy {
        (**self).policy()
    }

    fn class(&self) -> ToolClass {
        (**self).class()
    }

    fn needs(&self) -> Needs {
        (**self).needs()
    }

    fn is_recursive(&self) -> bool {
        (**self).is_recursive()
    }

    fn is_blocking(&self) -> bool {
        (**self).is_blocking()
    }

    fn effect(&self, arguments: &Value) -> ToolClass {
        (**self).effect(arguments)
    }

    fn grant_keys(&self, arguments: &Value) -> Vec<String> {
        (**self).grant_keys(arguments)
    }

    fn __generated(&self) -> Option<&'static ToolDef> {
        (**self).__generated()
    }
}
