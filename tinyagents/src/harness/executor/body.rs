//! Running a tool's own code: its panics, its time, and its end.

use std::any::Any;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt;
use tokio::runtime::Handle;
use tokio::time::Instant;

use super::{CallSite, Executor};
use crate::Result;
use crate::harness::event::Effects;
use crate::harness::message::{ArtifactRef, ToolCall};
use crate::harness::tool::{CallScope, RegisteredTool, ToolResult, ToolRuntime};

/// How a body ended.
pub(super) enum BodyEnd {
    /// It returned.
    Returned(Result<Box<ToolResult>>),
    /// It panicked with this message.
    Panicked(String),
    /// It was told to stop because its own time was over, `after` its start.
    TimedOut { after: Duration, effects: Effects },
    /// It was told to stop because the run's time was over.
    RunOver { effects: Effects },
    /// It was told to stop because the run was cancelled.
    Cancelled { effects: Effects },
}

type Caught = std::thread::Result<Result<ToolResult>>;

impl<S: Send + Sync + 'static, C: Send + Sync + 'static> Executor<S, C> {
    /// Runs a body until it ends, or until it was told to stop and its grace is over.
    pub(super) async fn body(
        &self,
        at: &CallSite,
        tool: &RegisteredTool<S, C>,
        call: ToolCall,
        kept: &Arc<Mutex<Vec<ArtifactRef>>>,
    ) -> BodyEnd {
        let started = Instant::now();
        let own = tool.spec.timeout.and_then(|timeout| started.checked_add(timeout));
        let own = own.filter(|own| *own <= self.budget.deadline);
        let deadline = own.unwrap_or(self.budget.deadline);
        let scope = CallScope {
            turn: at.turn,
            index: at.index,
            attempt: 1,
            deadline,
            grants: Arc::clone(&self.grants),
            kept: Arc::clone(kept),
        };
        let token = self.ctx.control().cancellation.child_token();
        let work = {
            let (tool, state) = (Arc::clone(&tool.tool), Arc::clone(&self.state));
            let ctx = self.ctx.at_call(at.index);
            let (stores, events, cancellation) = (self.stores.clone(), at.events.clone(), token.clone());
            async move {
                let runtime =
                    ToolRuntime { ctx: &ctx, stores: &stores, events: &events, cancellation, scope: &scope };
                tool.call(&state, runtime, call).await
            }
        };
        let work = AssertUnwindSafe(work).catch_unwind();
        // A function that blocks gets a thread, so that timeouts and cancels are heard while it runs.
        let mut body: Pin<Box<dyn Future<Output = Caught> + Send>> = if tool.blocking {
            let task = tokio::task::spawn_blocking(move || Handle::current().block_on(work));
            Box::pin(async move { task.await.unwrap_or_else(|error| Err(Box::new(error.to_string()))) })
        } else {
            Box::pin(work)
        };
        let why: fn(Duration, Effects) -> BodyEnd = tokio::select! {
            biased;
            end = &mut body => return returned(end),
            () = token.cancelled() => |_, effects| BodyEnd::Cancelled { effects },
            () = tokio::time::sleep_until(deadline) => match own {
                Some(_) => |after, effects| BodyEnd::TimedOut { after, effects },
                None => |_, effects| BodyEnd::RunOver { effects },
            },
        };
        let after = own.unwrap_or(started).saturating_duration_since(started);
        token.cancel();
        let effects = match tokio::time::timeout(self.policy.grace, &mut body).await {
            Ok(Ok(_)) => Effects::Done,
            Ok(Err(_)) | Err(_) => Effects::Unknown,
        };
        why(after, effects)
    }
}

fn returned(end: Caught) -> BodyEnd {
    match end {
        Ok(result) => BodyEnd::Returned(result.map(Box::new)),
        Err(panic) => BodyEnd::Panicked(panic_message(&*panic)),
    }
}

/// What a panic said.
fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_string());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_string())
}

/// Runs code that is not the library's own; a panic in it is an error with this text.
pub(crate) async fn caught<T>(who: &str, work: impl Future<Output = T>) -> Result<T, String> {
    let caught = AssertUnwindSafe(work).catch_unwind().await;
    caught.map_err(|panic| format!("{who} panicked: {}", panic_message(&*panic)))
}
