//! A run as a stream of its events.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::Stream;
use tokio::sync::mpsc;

use super::AgentRun;
use crate::Result;
use crate::harness::context::RunHandle;
use crate::harness::event::{EventListener, EventRecord};

type Run = Pin<Box<dyn Future<Output = Result<AgentRun>> + Send>>;

/// A run as a stream of its events, from `AgentHarness::invoke_stream`.
///
/// ```
/// # use tinyagents::prelude::*;
/// # use tinyagents::testkit::ScriptedModel;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> tinyagents::Result<()> {
/// # let mut harness: AgentHarness<()> = AgentHarness::new();
/// # harness.register_model("default", ScriptedModel::new().text("Hello!"))?;
/// let mut stream = harness.invoke_stream(&(), RunContext::default(), vec![Message::user("Hi")])?;
/// while let Some(record) = stream.next_event().await {
///     if let AgentEvent::ModelDelta { text } = record.event {
///         print!("{text}");
///     }
/// }
/// let run = stream.result().await?;
/// # assert_eq!(run.answer().as_deref(), Some("Hello!"));
/// # Ok(())
/// # }
/// ```
pub struct RunStream {
    handle: RunHandle,
    events: mpsc::UnboundedReceiver<EventRecord>,
    state: State,
}

enum State {
    Running(Run),
    Ended(Result<AgentRun>),
}

impl RunStream {
    pub(super) fn channel() -> (Arc<dyn EventListener>, mpsc::UnboundedReceiver<EventRecord>) {
        let (sender, events) = mpsc::unbounded_channel();
        // The stream may be dropped before a tool's thread has sent its last event.
        (Arc::new(move |record: &EventRecord| drop(sender.send(record.clone()))), events)
    }

    pub(super) fn new(handle: RunHandle, events: mpsc::UnboundedReceiver<EventRecord>, run: Run) -> Self {
        Self { handle, events, state: State::Running(run) }
    }

    /// A handle of the run.
    pub fn handle(&self) -> RunHandle {
        self.handle.clone()
    }

    /// The next event; `None` when the run has ended.
    pub async fn next_event(&mut self) -> Option<EventRecord> {
        std::future::poll_fn(|cx| self.poll(cx)).await
    }

    /// Runs to the end, skipping the events that are left, and gives the result.
    ///
    /// # Errors
    ///
    /// As `AgentHarness::invoke`.
    pub async fn result(mut self) -> Result<AgentRun> {
        while self.next_event().await.is_some() {}
        match self.state {
            State::Ended(result) => result,
            State::Running(run) => run.await,
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<EventRecord>> {
        if let Poll::Ready(Some(record)) = self.events.poll_recv(cx) {
            return Poll::Ready(Some(record));
        }
        let State::Running(run) = &mut self.state else { return Poll::Ready(None) };
        if let Poll::Ready(result) = run.as_mut().poll(cx) {
            self.state = State::Ended(result);
        }
        match (self.events.poll_recv(cx), &self.state) {
            (Poll::Ready(Some(record)), _) => Poll::Ready(Some(record)),
            (_, State::Ended(_)) => Poll::Ready(None),
            (_, State::Running(_)) => Poll::Pending,
        }
    }
}

impl Stream for RunStream {
    type Item = EventRecord;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<EventRecord>> {
        self.get_mut().poll(cx)
    }
}
