//! Running a tool's own code: its panics, its time, and its end.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::plan::Admission;
use super::prepare::Ready;
use super::tree::Held;
use super::{CallSite, Executor};
use crate::Result;
use crate::harness::event::AgentEvent;
use crate::harness::tool::{CallScope, ToolResult, ToolRuntime};

/// How long an async body may hold its thread before that is reported.
const LONG_POLL: Duration = Duration::from_millis(50);
/// What is left to the outer for closing what is within: a stopped task for its end, a run for its turn.
pub(crate) const CLOSING: Duration = Duration::from_millis(100);

/// How a body ended.
pub(super) enum BodyEnd {
    /// It returned.
    Returned(Result<Box<ToolResult>>),
    /// It panicked with this message.
    Panicked(String),
    /// It was told to stop.
    Stopped { why: Why, how: How },
}

/// Why a body was told to stop.
pub(super) enum Why {
    /// Its own time was over, so long after its start.
    TimedOut(Duration),
    /// The run's time was over.
    RunOver,
    /// The run was cancelled.
    Cancelled,
    /// Another call of the turn ended the run.
    Drained,
}

/// How a body ended that was told to stop.
pub(super) enum How {
    /// It returned within its grace.
    ByItself,
    /// It panicked within its grace, with this message.
    Panicked(String),
    /// It was dropped at an await.
    Forced,
    /// It still runs.
    Abandoned,
}

type Caught = std::thread::Result<Result<ToolResult>>;

/// A body that runs by itself.
struct Running {
    task: JoinHandle<Caught>,
}

impl Drop for Running {
    /// A body whose run is dropped ends at its next await; a blocking one was told by its token.
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Running {
    async fn end(&mut self) -> Caught {
        (&mut self.task).await.unwrap_or_else(|error| match error.try_into_panic() {
            Ok(panic) => Err(panic),
            Err(error) => Err(Box::new(error.to_string())),
        })
    }
}

impl<S: Send + Sync + 'static, C: Send + Sync + 'static> Executor<S, C> {
    /// Runs a body until it ends, or until `stop` or its time told it to and its grace is over. The permits go where
    /// the body goes: they come back when it really ends.
    pub(super) async fn body(
        &self,
        at: &CallSite,
        ready: &Ready<S, C>,
        stop: &CancellationToken,
        held: Held,
    ) -> BodyEnd {
        let started = Instant::now();
        let own = ready.tool.spec.timeout.and_then(|timeout| started.checked_add(timeout));
        let own = own.filter(|own| *own <= self.budget.deadline);
        let deadline = own.unwrap_or(self.budget.deadline);
        let ticket = held.ticket;
        let token = stop.child_token();
        // Whoever drops the run tells the body so.
        let told = token.clone().drop_guard();
        let work = AssertUnwindSafe(self.work(at, ready, deadline, token.clone())).catch_unwind();
        let span = tracing::info_span!(
            "execute_tool",
            otel.name = %format_args!("execute_tool {}", ready.call.name),
            gen_ai.operation.name = "execute_tool",
            gen_ai.tool.name = %ready.call.name,
            gen_ai.tool.call.id = %ready.call.id,
        );
        let blocking = ready.tool.blocking;
        let task = if blocking {
            let work = work.instrument(span);
            tokio::task::spawn_blocking(move || {
                let end = Handle::current().block_on(work);
                drop(held);
                end
            })
        } else {
            let (events, name, id) = (at.events.clone(), ready.tool.spec.name.clone(), ready.call.id.clone());
            let work = async move {
                let mut work = pin!(work);
                let end = poll_fn(|cx| {
                    let start = std::time::Instant::now();
                    let polled = work.as_mut().poll(cx);
                    let held = start.elapsed();
                    if held > LONG_POLL {
                        let (call_id, tool_name) = (id.clone(), name.to_string());
                        events.emit_with(|| AgentEvent::ToolBlocking { call_id, tool_name, held });
                    }
                    polled
                });
                let end = end.await;
                drop(held);
                end
            };
            let mut body: Pin<Box<dyn Future<Output = Caught> + Send>> = Box::pin(work.instrument(span));
            // Once in place: what ends at once needs no task, and starts in the order of the calls.
            if let Poll::Ready(end) = poll_fn(|cx| Poll::Ready(body.as_mut().poll(cx))).await {
                told.disarm();
                return returned(end);
            }
            tokio::spawn(body)
        };
        let mut running = Running { task };
        let why = tokio::select! {
            biased;
            end = running.end() => {
                told.disarm();
                return returned(end);
            }
            () = stop.cancelled() => if self.is_cancelled() { Why::Cancelled } else { Why::Drained },
            () = tokio::time::sleep_until(deadline) => match own {
                Some(own) => Why::TimedOut(own.saturating_duration_since(started)),
                None => Why::RunOver,
            },
        };
        token.cancel();
        let how = match tokio::time::timeout(self.grace(ready.kind), running.end()).await {
            Ok(Ok(_)) => How::ByItself,
            Ok(Err(panic)) => How::Panicked(panic_message(&*panic)),
            Err(_) => {
                running.task.abort();
                // A task ends at its next await. One that has none, and a thread, cannot be stopped.
                let stopped = !blocking && tokio::time::timeout(CLOSING, &mut running.task).await.is_ok();
                if stopped { How::Forced } else { How::Abandoned }
            }
        };
        if let How::Abandoned = how {
            self.tree.abandon(ticket);
        }
        BodyEnd::Stopped { why, how }
    }

    /// The body with everything it borrows from, so that it can go anywhere.
    fn work(
        &self,
        at: &CallSite,
        ready: &Ready<S, C>,
        deadline: Instant,
        cancellation: CancellationToken,
    ) -> impl Future<Output = Result<ToolResult>> + Send + use<S, C> {
        let scope = CallScope {
            turn: at.turn,
            index: at.index,
            attempt: ready.attempts,
            deadline,
            provided: Arc::clone(&self.provided),
            kept: ready.kept.clone(),
            nested: self.nested.clone().filter(|_| ready.kind.is_nested()),
            reads_only: ready.kind == Admission::NestedRead,
        };
        let (tool, state) = (Arc::clone(&ready.tool.tool), Arc::clone(&self.state));
        let (ctx, call) = (self.ctx.at_call(at.turn, at.index), ready.call.clone());
        let (stores, events) = (self.stores.clone(), at.events.clone());
        async move {
            let runtime =
                ToolRuntime { ctx: &ctx, stores: &stores, events: &events, cancellation, scope: &scope };
            tool.call(&state, runtime, call).await
        }
    }

    /// How long a body that was told to stop may take. What drives a nested run gets more, the more the further out it
    /// is: the nested run has closed its own transcript before the call around it is stopped.
    fn grace(&self, kind: Admission) -> Duration {
        if !kind.is_nested() {
            return self.policy.grace;
        }
        let below = self.policy.limits.max_depth.saturating_sub(self.depth());
        self.policy.grace.saturating_add(CLOSING.saturating_mul(2 * below))
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
