//! The sink that events are given to, and the listeners that hear them.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::super::source::Clock;
use super::{AgentEvent, EventRecord};
use crate::harness::id::RunId;

/// Hears the events of a run.
///
/// It is called where the event happens, so it must be quick: hand the record on to a channel for slow work.
/// A panic in a listener is caught and goes no further: the run and the other listeners do not notice. Any `Fn(&EventRecord)` is a listener.
pub trait EventListener: Send + Sync {
    /// Takes note of one event.
    fn on_event(&self, record: &EventRecord);
}

impl<F: Fn(&EventRecord) + Send + Sync> EventListener for F {
    fn on_event(&self, record: &EventRecord) {
        self(record);
    }
}

/// Whether events carry the arguments and results of calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PayloadCapture {
    /// They do not: arguments and results may hold what logs must not.
    #[default]
    Off,
    /// They do.
    On,
}

/// The run that events belong to.
pub(crate) struct RunScope {
    pub(crate) run_id: RunId,
    pub(crate) parent_run_id: Option<RunId>,
    pub(crate) root_run_id: RunId,
    pub(crate) listeners: Vec<Arc<dyn EventListener>>,
    pub(crate) capture: PayloadCapture,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) offset: AtomicU64,
}

/// Where events go. Cheap to clone; a clone given to a tool stamps that call's turn and index on its events.
#[derive(Clone, Default)]
pub struct EventSink {
    run: Option<Arc<RunScope>>,
    turn: u32,
    call_index: Option<u32>,
}

impl EventSink {
    pub(crate) fn new(run: RunScope) -> Self {
        // Without listeners there is nothing to keep: every emit ends at one comparison.
        let run = (!run.listeners.is_empty()).then(|| Arc::new(run));
        Self { run, turn: 0, call_index: None }
    }

    pub(crate) fn at_turn(&self, turn: u32) -> Self {
        Self { turn, ..self.clone() }
    }

    pub(crate) fn at_call(&self, call_index: u32) -> Self {
        Self { call_index: Some(call_index), ..self.clone() }
    }

    /// Records an event.
    pub fn emit(&self, event: AgentEvent) {
        self.emit_with(|| event);
    }

    /// Records an event that is built only if somebody listens.
    pub fn emit_with(&self, event: impl FnOnce() -> AgentEvent) {
        let Some(run) = &self.run else { return };
        let record = EventRecord {
            run_id: run.run_id.clone(),
            parent_run_id: run.parent_run_id.clone(),
            root_run_id: run.root_run_id.clone(),
            offset: run.offset.fetch_add(1, Ordering::Relaxed),
            turn: self.turn,
            call_index: self.call_index,
            at: run.clock.now(),
            event: event(),
        };
        for listener in &run.listeners {
            // What listens must not end what it listens to; the panic itself was reported by the panic hook.
            let _ = catch_unwind(AssertUnwindSafe(|| listener.on_event(&record)));
        }
    }

    /// Whether anybody listens.
    pub(crate) fn is_heard(&self) -> bool {
        self.run.is_some()
    }

    /// Runs `payload` if events may carry arguments and results.
    pub(crate) fn capture<T>(&self, payload: impl FnOnce() -> T) -> Option<T> {
        matches!(&self.run, Some(run) if run.capture == PayloadCapture::On).then(payload)
    }
}

impl fmt::Debug for EventSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let listeners = self.run.as_ref().map_or(0, |run| run.listeners.len());
        f.debug_struct("EventSink").field("listeners", &listeners).finish_non_exhaustive()
    }
}
