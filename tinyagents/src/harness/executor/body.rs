//! Running a tool's own code: its panics, its time, and its end.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::FutureExt;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};
use tracing::{Instrument, Span, field};

use super::plan::Admission;
use super::prepare::Ready;
use super::tree::{Held, Tree};
use super::{CallSite, Executor};
use crate::harness::event::{AgentEvent, EventSink};
use crate::harness::id::{ToolCallId, ToolName};
use crate::harness::tool::{CallScope, Starting, ToolResult, ToolRuntime};
use crate::{Result, TinyAgentsError};

/// How long an async body may hold its thread before that is reported.
const LONG_POLL: Duration = Duration::from_millis(50);
/// What is left to the outer for closing what is within: a stopped task for its end, a run for its turn.
pub(crate) const CLOSING: Duration = Duration::from_millis(100);

/// How many runs, each within the one before, may start on one stack: any number would use it up.
const IN_PLACE: u32 = 8;

/// How a body ended.
pub(super) enum BodyEnd {
    /// It returned.
    Returned(Result<Box<ToolResult>>),
    /// It panicked with this message.
    Panicked(String),
    /// It was stopped from outside: the runtime that it ran on is gone.
    Killed,
    /// It never began: it was told to stop before there was a thread for it.
    NotBegun(Why),
    /// It was told to stop.
    Stopped { why: Why, how: How },
}

impl BodyEnd {
    /// How a body failed, if it did: the name of its failure in events, for traces.
    fn error_type(&self) -> Option<&'static str> {
        match self {
            Self::Returned(Ok(result)) if !result.is_error => None,
            Self::Returned(Err(TinyAgentsError::Stopped(_))) => Some("denied"),
            Self::Returned(Err(TinyAgentsError::Tool(error))) if error.needs_person() => Some("denied"),
            Self::Returned(_) => Some("error"),
            Self::Panicked(_) => Some("panicked"),
            Self::Stopped { how: How::Abandoned, .. } => Some("abandoned"),
            Self::Stopped { why: Why::TimedOut(_) | Why::RunOver, .. } | Self::NotBegun(Why::RunOver) => {
                Some("timed_out")
            }
            Self::Stopped { .. } | Self::NotBegun(_) | Self::Killed => Some("cancelled"),
        }
    }
}

/// Why a body was told to stop.
pub(super) enum Why {
    /// Its own time was over, which was so long.
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

type Caught = Result<Result<ToolResult>, Broken>;

/// Why a body has nothing to return.
enum Broken {
    Panicked(String),
    Killed,
}

impl Broken {
    fn of_panic(panic: Box<dyn Any + Send>) -> Self {
        Self::Panicked(panic_message(&*panic))
    }
}

/// A body whose panics are caught.
struct Work(Pin<Box<dyn Future<Output = Result<ToolResult>> + Send>>);

impl Future for Work {
    type Output = Caught;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Caught> {
        match catch_unwind(AssertUnwindSafe(|| self.0.as_mut().poll(cx))) {
            Ok(polled) => polled.map(Ok),
            Err(panic) => Poll::Ready(Err(Broken::of_panic(panic))),
        }
    }
}

/// A body that gives its permits back at its end, and whose long polls are reported if somebody listens.
struct Reported {
    work: Work,
    held: Option<Held>,
    report: Option<(EventSink, ToolName, ToolCallId)>,
}

impl Future for Reported {
    type Output = Caught;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Caught> {
        let this = &mut *self;
        let start = this.report.is_some().then(std::time::Instant::now);
        let polled = Pin::new(&mut this.work).poll(cx);
        let held = start.map(|start| start.elapsed()).filter(|held| *held > LONG_POLL);
        if let (Some(held), Some((events, name, id))) = (held, &this.report) {
            events.emit(AgentEvent::ToolBlocking { call_id: id.clone(), tool_name: name.to_string(), held });
        }
        if polled.is_ready() {
            this.held = None;
        }
        polled
    }
}

/// A body that runs by itself.
struct Running {
    task: JoinHandle<Caught>,
    thread: Option<Thread>,
}

/// A thread for a body, which may have to be waited for.
struct Thread {
    /// The body's permits, until it begins.
    seat: Arc<Mutex<Option<Held>>>,
    tree: Arc<Tree>,
    ticket: u64,
}

impl Running {
    /// Runs a body on a thread of its own; says when it begins.
    fn on_thread(work: Work, held: Held, tree: Arc<Tree>) -> (Self, oneshot::Receiver<()>) {
        let ticket = held.ticket;
        let seat = Arc::new(Mutex::new(Some(held)));
        let thread = Thread { seat: Arc::clone(&seat), tree, ticket };
        let (begin, begins) = oneshot::channel();
        let task = tokio::task::spawn_blocking(move || {
            let Some(held) = taken(&seat) else { return Err(Broken::Killed) };
            let _ = begin.send(());
            let end = Handle::current().block_on(work);
            drop(held);
            end
        });
        (Self { task, thread: Some(thread) }, begins)
    }

    /// Keeps a body that waits for a thread from beginning.
    fn withdraw(&mut self) -> bool {
        let withdrawn = self.thread.as_ref().and_then(|thread| taken(&thread.seat)).is_some();
        if withdrawn {
            self.task.abort();
            self.thread = None;
        }
        withdrawn
    }

    async fn end(&mut self) -> Caught {
        let end = (&mut self.task).await.unwrap_or_else(|error| match error.try_into_panic() {
            Ok(panic) => Err(Broken::of_panic(panic)),
            Err(_) => Err(Broken::Killed),
        });
        self.thread = None; // its permits are back
        end
    }

    /// Stops a body that was told to and did not. A task ends at its next await; one that has none, and a thread, cannot
    /// be stopped.
    async fn force(&mut self) -> How {
        self.task.abort();
        let stopped = self.thread.is_none() && tokio::time::timeout(CLOSING, &mut self.task).await.is_ok();
        if stopped { How::Forced } else { How::Abandoned }
    }
}

impl Drop for Running {
    /// A body whose run is dropped ends at its next await. A thread cannot be stopped, so nobody must wait for it.
    fn drop(&mut self) {
        self.task.abort();
        self.withdraw();
        if let Some(thread) = self.thread.take() {
            thread.tree.abandon(thread.ticket);
        }
    }
}

fn taken(seat: &Mutex<Option<Held>>) -> Option<Held> {
    seat.lock().unwrap_or_else(PoisonError::into_inner).take()
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
        let span = tracing::info_span!(
            "execute_tool",
            otel.name = %format_args!("execute_tool {}", ready.call.name),
            otel.status_code = field::Empty,
            gen_ai.operation.name = "execute_tool",
            gen_ai.tool.name = %ready.call.name,
            gen_ai.tool.call.id = %ready.call.id,
            "error.type" = field::Empty,
        );
        let end = self.body_in(&span, at, ready, stop, held).await;
        if let Some(error) = end.error_type() {
            span.record("error.type", error);
            span.record("otel.status_code", "ERROR");
        }
        end
    }

    async fn body_in(
        &self,
        span: &Span,
        at: &CallSite,
        ready: &Ready<S, C>,
        stop: &CancellationToken,
        held: Held,
    ) -> BodyEnd {
        let ticket = held.ticket;
        let token = stop.child_token();
        // The runs that a call starts end with it, and keep its permits until they have.
        let (held, borrows) = if ready.kind.is_nested() { held.lend() } else { (held, Weak::new()) };
        let work = Work(Box::pin(self.work(at, ready, token.clone(), borrows).instrument(span.clone())));
        // Whoever drops the run tells the body so.
        let told = token.drop_guard();
        let (timeout, run_over) = (ready.tool.spec.timeout, self.budget.deadline);
        let mut until = due(timeout, run_over);
        let running = if ready.tool.blocking {
            let (mut running, begins) = Running::on_thread(work, held, Arc::clone(&self.tree));
            let begun = Box::pin(async {
                tokio::select! {
                    biased;
                    _ = begins => None,
                    () = stop.cancelled() => Some(self.why_stopped()),
                    () = tokio::time::sleep_until(run_over) => Some(Why::RunOver),
                }
            });
            match begun.await {
                Some(why) if running.withdraw() => return BodyEnd::NotBegun(why),
                _ => until = due(timeout, run_over),
            }
            running
        } else {
            let report = || (at.events.clone(), ready.tool.spec.name.clone(), ready.call.id.clone());
            let report = at.events.is_heard().then(report);
            let mut body = Reported { work, held: Some(held), report };
            // Once in place: what ends at once needs no task, and starts in the order of the calls.
            if !ready.kind.is_nested() || self.depth() % IN_PLACE != IN_PLACE - 1 {
                if let Poll::Ready(end) = once(&mut body).await {
                    disarm(told, ready.kind);
                    return returned(end);
                }
            }
            Running { task: tokio::spawn(body), thread: None }
        };
        // Boxed, so that the future of a call that ends at once stays small.
        Box::pin(self.watch(ready.kind, stop, running, told, until, ticket)).await
    }

    /// Waits for the end of a body that did not end at once, and ends it when it must.
    async fn watch(
        &self,
        kind: Admission,
        stop: &CancellationToken,
        mut running: Running,
        told: DropGuard,
        (deadline, own): (Instant, Option<Duration>),
        ticket: u64,
    ) -> BodyEnd {
        let why = tokio::select! {
            biased;
            end = running.end() => {
                disarm(told, kind);
                return returned(end);
            }
            () = stop.cancelled() => self.why_stopped(),
            () = tokio::time::sleep_until(deadline) => own.map_or(Why::RunOver, Why::TimedOut),
        };
        told.disarm().cancel();
        if let Why::Cancelled | Why::RunOver = why {
            self.stopped_at();
        }
        let how = match tokio::time::timeout(self.grace(kind), running.end()).await {
            Ok(Ok(_)) => How::ByItself,
            Ok(Err(Broken::Panicked(message))) => How::Panicked(message),
            Ok(Err(Broken::Killed)) => How::Forced,
            Err(_) => running.force().await,
        };
        if let How::Abandoned = how {
            self.tree.abandon(ticket);
        }
        BodyEnd::Stopped { why, how }
    }

    fn why_stopped(&self) -> Why {
        if self.is_cancelled() {
            Why::Cancelled
        } else if self.budget.is_over() {
            Why::RunOver
        } else {
            Why::Drained
        }
    }

    /// The body with everything it borrows from, so that it can go anywhere.
    fn work(
        &self,
        at: &CallSite,
        ready: &Ready<S, C>,
        cancellation: CancellationToken,
        permits: Weak<Held>,
    ) -> impl Future<Output = Result<ToolResult>> + Send + use<S, C> {
        let run_over = self.budget.deadline;
        let mut scope = CallScope {
            turn: at.turn,
            index: at.index,
            attempt: ready.attempts,
            deadline: run_over,
            provided: Arc::clone(&self.provided),
            kept: ready.kept.clone(),
            nested: self.nested.clone().filter(|_| ready.kind.is_nested()).map(|seat| Starting {
                seat,
                permits,
                one: Arc::default(),
            }),
            reads_only: ready.kind == Admission::NestedRead,
        };
        let (tool, state) = (Arc::clone(&ready.tool), Arc::clone(&self.state));
        let (ctx, call) = (self.ctx.at_call(at.turn, at.index), ready.call.clone());
        let (stores, events) = (self.stores.clone(), at.events.clone());
        async move {
            scope.deadline = due(tool.spec.timeout, run_over).0;
            let runtime =
                ToolRuntime { ctx: &ctx, stores: &stores, events: &events, cancellation, scope: &scope };
            tool.tool.call(&state, runtime, call).await
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

/// When a body that starts now must have ended, and its tool's own time if that is why, rather than the run's.
fn due(timeout: Option<Duration>, run_over: Instant) -> (Instant, Option<Duration>) {
    let own = timeout.and_then(|timeout| Some((Instant::now().checked_add(timeout)?, timeout)));
    match own.filter(|(at, _)| *at <= run_over) {
        Some((at, own)) => (at, Some(own)),
        None => (run_over, None),
    }
}

/// A body that returned is not told to end, unless runs could still go on that it started.
fn disarm(told: DropGuard, kind: Admission) {
    if !kind.is_nested() {
        told.disarm();
    }
}

fn returned(end: Caught) -> BodyEnd {
    match end {
        Ok(result) => BodyEnd::Returned(result.map(Box::new)),
        Err(Broken::Panicked(message)) => BodyEnd::Panicked(message),
        Err(Broken::Killed) => BodyEnd::Killed,
    }
}

/// What a panic said.
pub(super) fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_string());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_string())
}

/// Runs code that is not the library's own; a panic in it is an error with this text.
pub(crate) fn caught<F: Future>(who: &str, work: F) -> impl Future<Output = Result<F::Output, String>> {
    let text = move |panic: Box<dyn Any + Send>| format!("{who} panicked: {}", panic_message(&*panic));
    AssertUnwindSafe(work).catch_unwind().map(move |end| end.map_err(text))
}

/// Polls a future once.
pub(super) async fn once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    poll_fn(|cx| Poll::Ready(Pin::new(&mut *future).poll(cx))).await
}
