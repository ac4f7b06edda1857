//! What the runtime gives to a tool, out of the model's sight.

use tokio_util::sync::CancellationToken;

use super::{ToolCall, ToolError, ToolRuntime};
use crate::harness::event::{AgentEvent, EventSink};
use crate::harness::id::{RunId, ThreadId, ToolCallId};
use crate::harness::store::StoreRegistry;
use crate::harness::workspace::WorkspaceDescriptor;

/// A state that holds a `T` which tools may borrow with `#[inject] part: &T`.
///
/// Every state provides itself; `#[derive(ToolState)]` makes a struct provide each of its fields.
#[diagnostic::on_unimplemented(
    message = "the harness state `{Self}` does not provide `{T}`",
    label = "a tool injects `&{T}`, which this state does not have",
    note = "add a field of type `{T}` to the state and put `#[derive(ToolState)]` on it, or use a harness whose \
            state is `{T}`"
)]
pub trait Provide<T: ?Sized> {
    /// Lends the part.
    fn provide(&self) -> &T;
}

#[diagnostic::do_not_recommend]
impl<T> Provide<T> for T {
    fn provide(&self) -> &T {
        self
    }
}

/// What an injected value can be made from.
pub struct InjectContext<'a, State, Ctx = ()> {
    /// The application's state.
    pub state: &'a State,
    /// The call's runtime.
    pub runtime: &'a ToolRuntime<'a, Ctx>,
    /// The call.
    pub call: &'a ToolCall,
}

/// A value that `#[inject] name: Self` makes from the run, for each call.
///
/// ```
/// use tinyagents::harness::tool::{Inject, InjectContext, ToolError};
///
/// /// The tenant that the run works for.
/// struct Tenant(String);
///
/// impl<State, Ctx> Inject<State, Ctx> for Tenant {
///     fn inject(cx: &InjectContext<'_, State, Ctx>) -> Result<Self, ToolError> {
///         let tenant = cx.runtime.ctx.config().metadata.get("tenant").and_then(|value| value.as_str());
///         tenant.map(|name| Self(name.into())).ok_or_else(|| ToolError::fatal("the run has no tenant"))
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be injected into a tool",
    label = "the runtime does not know how to make this value",
    note = "to lend a part of the harness state write `&{Self}`; to make the value for each call implement \
            `tinyagents::harness::tool::Inject` for it"
)]
pub trait Inject<State, Ctx = ()>: Sized {
    /// Makes the value.
    ///
    /// # Errors
    ///
    /// Any [`ToolError`]; it becomes the call's result.
    fn inject(cx: &InjectContext<'_, State, Ctx>) -> Result<Self, ToolError>;
}

macro_rules! injects {
    ($($(#[$doc:meta])* $type:ty => |$cx:ident| $value:expr;)*) => {$(
        $(#[$doc])*
        impl<State, Ctx> Inject<State, Ctx> for $type {
            fn inject($cx: &InjectContext<'_, State, Ctx>) -> Result<Self, ToolError> {
                $value
            }
        }
    )*};
}

injects! {
    /// The run.
    RunId => |cx| Ok(cx.runtime.ctx.run_id().clone());
    /// The conversation, if the run belongs to one.
    Option<ThreadId> => |cx| Ok(cx.runtime.ctx.thread_id().cloned());
    /// The conversation; an error in a run that belongs to none.
    ThreadId => |cx| cx.runtime.ctx.thread_id().cloned().ok_or_else(|| {
        ToolError::fatal("the tool needs a thread id; set `RunConfig::thread_id`")
    });
    /// The call.
    ToolCallId => |cx| Ok(cx.call.id.clone());
    /// Says when the call should end early.
    CancellationToken => |cx| Ok(cx.runtime.cancellation.clone());
    /// The sink for this call's events.
    EventSink => |cx| Ok(cx.runtime.events.clone());
    /// Stores and artifacts.
    StoreRegistry => |cx| Ok(cx.runtime.stores.clone());
    /// The stream of this call's progress.
    Progress => |cx| Ok(Progress { events: cx.runtime.events.clone() });
    /// Where the run's tools may work; an error in a run without a workspace.
    WorkspaceDescriptor => |cx| cx.runtime.ctx.workspace().cloned().ok_or_else(|| {
        ToolError::fatal("the tool needs a workspace; use `AgentHarness::with_workspace`")
    });
}

/// Reports how far a call is, as `tool.progress` events.
#[derive(Debug, Clone)]
pub struct Progress {
    events: EventSink,
}

impl Progress {
    /// Reports one step.
    pub fn report(&self, message: impl Into<String>) {
        self.events.emit_with(|| AgentEvent::ToolProgress { message: message.into() });
    }
}
