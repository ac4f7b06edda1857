//! One write-once slot for each call of a reply, and the turn that holds them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use foldhash::{HashMap, HashMapExt};
use tokio_util::sync::CancellationToken;

use super::CallSite;
use super::outcome::{Ending, Outcome};
use super::repeat::key;
use crate::harness::context::RunControl;
use crate::harness::event::{AgentEvent, EventSink, FailureKind};
use crate::harness::id::ToolCallId;
use crate::harness::message::{AssistantMessage, ClosedTurn, HistoryError, ToolCall, ToolMessage};
use crate::harness::source::IdSource;
use crate::harness::tool::ToolResult;

/// The calls of a reply that repeat an earlier one whole, id, name and arguments, each with the index of that one: a
/// stream that sent a call twice. A call without an id repeats none.
pub(crate) fn echoes(reply: &AssistantMessage) -> Vec<(usize, usize)> {
    let mut firsts: HashMap<&ToolCallId, usize> = HashMap::with_capacity(reply.tool_calls.len());
    // By id, name and arguments, of those whose id is doubled: looked up, since a reply may double one a thousand times.
    let mut doubled: HashMap<(&ToolCallId, u64), usize> = HashMap::new();
    let mut echoes = Vec::new();
    for (index, call) in reply.tool_calls.iter().enumerate() {
        if call.id.as_str().is_empty() {
            continue;
        }
        let first = *firsts.entry(&call.id).or_insert(index);
        if first == index {
            continue;
        }
        if let Some(earlier) = reply.tool_calls.get(first) {
            doubled.entry((&call.id, key(earlier))).or_insert(first);
        }
        let first = *doubled.entry((&call.id, key(call))).or_insert(index);
        let same = |earlier: &&ToolCall| earlier.name == call.name && earlier.arguments == call.arguments;
        if first != index && reply.tool_calls.get(first).filter(same).is_some() {
            echoes.push((index, first));
        }
    }
    echoes
}

/// Gives every call that came without an id one of its place, the same for the same place. The history tells doubled
/// ids apart.
pub(crate) fn fill_ids(reply: &mut AssistantMessage, turn: u32, ids: &dyn IdSource) {
    for (index, call) in reply.tool_calls.iter_mut().enumerate() {
        if call.id.as_str().is_empty() {
            call.id = ids.call_id(turn, u32::try_from(index).unwrap_or(u32::MAX));
        }
    }
}

/// A turn, numbered from 1, whose calls have not all been answered.
///
/// Whatever happens to the one who drives it, the turn closes: dropped before its end, it answers every open call and
/// gives itself to the history.
pub(super) struct OpenTurn<'a> {
    pub(super) number: u32,
    pub(super) events: EventSink,
    /// Everything that runs must end.
    pub(super) stop: CancellationToken,
    /// Nothing more may start, and what only reads must end. Part of `stop`.
    pub(super) drain: CancellationToken,
    control: &'a RunControl,
    /// Whether a call ended the run. Beside the ledger, because it is read before every call.
    draining: AtomicBool,
    ledger: Mutex<Ledger>,
}

struct Ledger {
    reply: AssistantMessage,
    slots: Vec<Slot>,
    failed: usize,
    ending: Option<(usize, Ending)>,
    failed_mutation: Option<usize>,
    closed: bool,
}

enum Slot {
    Open,
    /// So often.
    Started(u32),
    Settled(Box<ToolResult>),
}

impl<'a> OpenTurn<'a> {
    pub(super) fn open(
        number: u32,
        reply: AssistantMessage,
        events: &EventSink,
        control: &'a RunControl,
    ) -> Self {
        let events = events.at_turn(number);
        if number > 0 {
            events.emit_with(|| AgentEvent::TurnOpened { tool_calls: reply.tool_calls.len() });
        }
        let stop = control.cancellation.child_token();
        let slots = reply.tool_calls.iter().map(|_| Slot::Open).collect();
        let ledger = Ledger { reply, slots, failed: 0, ending: None, failed_mutation: None, closed: false };
        let (drain, draining) = (stop.child_token(), AtomicBool::new(false));
        Self { number, events, stop, drain, control, draining, ledger: Mutex::new(ledger) }
    }

    fn lock(&self) -> MutexGuard<'_, Ledger> {
        // Nothing panics while it holds the lock; a poisoned one still guards whole values.
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn len(&self) -> usize {
        self.lock().slots.len()
    }

    pub(super) fn call(&self, index: usize) -> Option<ToolCall> {
        self.lock().reply.tool_calls.get(index).cloned()
    }

    /// Notes that a call's body starts.
    pub(super) fn started(&self, index: usize) {
        match self.lock().slots.get_mut(index) {
            Some(slot @ Slot::Open) => *slot = Slot::Started(1),
            Some(Slot::Started(attempts)) => *attempts += 1,
            Some(Slot::Settled(_)) | None => {}
        }
    }

    /// Takes a call's outcome and sends its terminal event. The first outcome stays: a later one is dropped.
    pub(super) fn settle(&self, index: usize, outcome: Outcome) {
        let mut ledger = self.lock();
        let only = ledger.slots.len() == 1;
        match ledger.slots.get(index) {
            None | Some(Slot::Settled(_)) => return,
            Some(Slot::Open | Slot::Started(_)) => {}
        }
        let events = self.site(index).events;
        ledger.failed += usize::from(outcome.result.is_error);
        if outcome.ending.as_ref().is_some_and(Ending::drains) {
            self.draining.store(true, Ordering::Release);
        }
        let earlier = ledger.ending.as_ref().map(|(at, _)| *at);
        let terminal = events.is_heard().then(|| outcome.terminal_event());
        let ending = match outcome.ending {
            Some(Ending::Answer) if !only => None, // the model asked for more than this answer
            ending => ending.filter(|_| earlier.is_none_or(|at| index < at)),
        };
        if let Some(ending) = ending {
            ledger.ending = Some((index, ending));
        }
        if let Some(slot) = ledger.slots.get_mut(index) {
            *slot = Slot::Settled(outcome.result);
        }
        drop(ledger);
        if let Some(terminal) = terminal {
            events.emit(terminal);
        }
    }

    /// Where a call of the turn stands.
    pub(super) fn site(&self, index: usize) -> CallSite {
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        CallSite { turn: self.number, index, events: self.events.at_call(index) }
    }

    /// Whether nothing more may start, because a call ended the run.
    pub(super) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Acquire)
    }

    /// Notes that a call that may change something failed or was refused.
    pub(super) fn mutation_failed(&self, index: usize) {
        let mut ledger = self.lock();
        let first = ledger.failed_mutation.map_or(index, |first| first.min(index));
        ledger.failed_mutation = Some(first);
    }

    /// The first call before `index` that should have changed something and did not.
    pub(super) fn failed_mutation_before(&self, index: usize) -> Option<usize> {
        self.lock().failed_mutation.filter(|failed| *failed < index)
    }

    /// The result of the only call of a turn that is no part of a conversation.
    pub(super) fn into_result(self) -> Option<ToolResult> {
        let mut ledger = self.lock();
        ledger.closed = true;
        match ledger.slots.pop() {
            Some(Slot::Settled(result)) => Some(*result),
            _ => None,
        }
    }

    /// Closes the turn: its calls and their results enter the history together.
    pub(super) fn close(self) -> Result<Option<Ending>, HistoryError> {
        self.answer_open("not executed: the turn ended before this call could start");
        self.hand_over()
    }

    /// Answers every call that has no outcome.
    fn answer_open(&self, never_started: &str) {
        let open: Vec<(usize, Outcome)> = {
            let ledger = self.lock();
            let slots = ledger.slots.iter().zip(&ledger.reply.tool_calls).enumerate();
            slots
                .filter_map(|(index, (slot, call))| match slot {
                    Slot::Settled(_) => None,
                    Slot::Open => {
                        Some((index, Outcome::refused(call, FailureKind::Skipped, never_started.into())))
                    }
                    Slot::Started(attempts) => Some((index, Outcome::interrupted(call, *attempts))),
                })
                .collect()
        };
        open.into_iter().for_each(|(index, outcome)| self.settle(index, outcome));
    }

    fn hand_over(&self) -> Result<Option<Ending>, HistoryError> {
        let mut ledger = self.lock();
        ledger.closed = true;
        let (reply, slots) = (std::mem::take(&mut ledger.reply), std::mem::take(&mut ledger.slots));
        let (failed, ending) = (ledger.failed, ledger.ending.take());
        drop(ledger);
        let results = slots.into_iter().zip(&reply.tool_calls).filter_map(|(slot, call)| match slot {
            Slot::Settled(result) => Some(message(call, *result)),
            Slot::Open | Slot::Started(_) => None,
        });
        let results = results.collect();
        let closed = ClosedTurn::new(reply, results)?;
        self.control.with_history(|history| history.close(closed));
        self.events.emit_with(|| AgentEvent::TurnClosed { failed });
        Ok(ending.map(|(_, ending)| ending))
    }
}

impl Drop for OpenTurn<'_> {
    fn drop(&mut self) {
        if self.lock().closed {
            return;
        }
        self.stop.cancel();
        self.answer_open("not executed: the run was interrupted before this call started");
        // A call outside any turn is no part of a conversation.
        if self.number > 0 {
            // The ids were made unique, so the pairs fit; and there is nobody left to tell.
            let _ = self.hand_over();
        }
    }
}

fn message(call: &ToolCall, result: ToolResult) -> ToolMessage {
    ToolMessage {
        tool_call_id: call.id.clone(),
        name: result.name,
        content: result.content,
        is_error: result.is_error,
        value: result.value,
        artifacts: result.artifacts,
    }
}
