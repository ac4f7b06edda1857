//! Steering a run from outside.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::harness::message::{History, Message};

/// What a run and its handles share.
#[derive(Default)]
pub(crate) struct RunControl {
    pub(crate) cancellation: CancellationToken,
    news: Notify,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    queue: VecDeque<Message>,
    history: History,
    ended: bool,
}

impl RunControl {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Nothing below panics while it holds the lock; a poisoned one still guards whole values.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads or extends the transcript.
    pub(crate) fn with_history<R>(&self, access: impl FnOnce(&mut History) -> R) -> R {
        access(&mut self.lock().history)
    }

    /// What a run within another one is steered by: it ends when `outer` does.
    pub(crate) fn within(outer: &CancellationToken) -> Self {
        Self { cancellation: outer.child_token(), ..Self::default() }
    }

    /// Waits until a message is queued.
    pub(crate) async fn queued(&self) {
        loop {
            let news = self.news.notified();
            if !self.lock().queue.is_empty() {
                return;
            }
            news.await;
        }
    }

    pub(crate) fn take_queued(&self) -> VecDeque<Message> {
        std::mem::take(&mut self.lock().queue)
    }

    /// Ends the queue if it is empty: afterwards nothing can be queued any more.
    pub(crate) fn end_if_idle(&self) -> bool {
        let mut inner = self.lock();
        inner.ended = inner.queue.is_empty();
        inner.ended
    }

    pub(crate) fn end(&self) {
        self.lock().ended = true;
    }
}

/// The run is over: nothing can be queued for it any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the run has ended; start another run with this message")]
pub struct RunEnded;

/// A handle of a run: cancel it, queue a message, read the transcript so far.
///
/// Take it from [`RunContext::handle`](super::RunContext::handle) before the run starts. It stays usable after
/// the run, also after one that ended with an error or was dropped.
#[derive(Clone)]
pub struct RunHandle(pub(crate) Arc<RunControl>);

impl RunHandle {
    /// Asks the run to end. Running tools are told, and every call still gets its result.
    pub fn cancel(&self) {
        self.0.cancellation.cancel();
    }

    /// Whether the run was asked to end.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancellation.is_cancelled()
    }

    /// Queues what the user says next: it enters the transcript before the model is asked again, and keeps a run
    /// going that would have ended.
    ///
    /// # Errors
    ///
    /// Refuses when the run has ended.
    pub fn queue(&self, text: impl Into<String>) -> Result<(), RunEnded> {
        let mut inner = self.0.lock();
        if inner.ended {
            return Err(RunEnded);
        }
        inner.queue.push_back(Message::user(text));
        drop(inner);
        self.0.news.notify_waiters();
        Ok(())
    }

    /// The transcript as of the last closed turn: whole, with a result for every call.
    pub fn transcript(&self) -> Arc<Vec<Message>> {
        Arc::clone(self.0.lock().history.messages())
    }
}

impl std::fmt::Debug for RunHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunHandle").field("cancelled", &self.is_cancelled()).finish_non_exhaustive()
    }
}
