//! The executor as a state machine: every step that a tree of runs could take next.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use stateright::{Model, Property};
use tinyagents::harness::executor::{Admission, Permits, Standing};

use super::properties;
use super::tree::{Setup, Tree, Turn, Variant};

/// Where a call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    Pending,
    /// A human is asked.
    Asking,
    Approved,
    /// It is head of its line and has asked for its claim.
    Waiting,
    Running,
    /// It has its result, but its body is a thread that still runs.
    Abandoned,
    Settled,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct State {
    pub(super) calls: Vec<Phase>,
    /// How many turns each run has opened.
    pub(super) opened: Vec<usize>,
    /// Which runs are cancelled.
    pub(super) cancelled: Vec<bool>,
    pub(super) permits: Permits,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// A run is cancelled, with all runs below it.
    Cancel(usize),
    /// The model answers, and a run opens its next turn.
    Open(usize),
    Prompt(usize),
    Approve(usize),
    Deny(usize),
    /// The head of a line asks for its claim.
    Ask(usize),
    /// A body ends, somehow.
    End(usize),
    /// A call that has not started is settled after a cancel.
    Withdraw(usize),
    Abandon(usize),
    /// An abandoned thread ends after all.
    ThreadEnds(usize),
}

impl Step {
    /// Whether it must come at last if nothing else does. Nobody has to cancel, and no thread has to end.
    fn is_progress(self) -> bool {
        !matches!(self, Self::Cancel(_) | Self::Abandon(_) | Self::ThreadEnds(_))
    }
}

/// What is checked, and the peaks that were seen.
pub(super) struct Executor {
    pub(super) setup: Setup,
    pub(super) tree: Tree,
    pub(super) live_runs: AtomicUsize,
    pub(super) leaf_bodies: AtomicUsize,
}

impl Executor {
    pub(super) fn new(setup: Setup) -> Self {
        let tree = Tree::new(&setup);
        Self { setup, tree, live_runs: AtomicUsize::new(0), leaf_bodies: AtomicUsize::new(0) }
    }

    fn holds_while_asking(&self) -> bool {
        self.setup.variant == Variant::AsksWhileHolding
    }

    /// Whether something will happen by itself.
    pub(super) fn goes_on(&self, state: &State) -> bool {
        let found = self.steps(state, &mut |step| match step.is_progress() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        });
        found.is_break()
    }

    /// Finds every step that may come next, until told to stop.
    fn steps(&self, state: &State, found: &mut dyn FnMut(Step) -> ControlFlow<()>) -> ControlFlow<()> {
        for (run, its) in self.tree.runs.iter().enumerate() {
            if its.caller.is_some_and(|caller| state.calls[caller] != Phase::Running) {
                continue;
            }
            if !state.cancelled[run] && (run == 0 || self.setup.cancels_any) {
                found(Step::Cancel(run))?;
            }
            if let Some(turn) = self.open_turn(state, run) {
                let is_open = |segment: &&std::ops::Range<usize>| !state.are_settled((*segment).clone());
                for call in turn.segments.iter().find(is_open).cloned().unwrap_or_default() {
                    self.call_steps(state, call, found)?;
                }
            } else if !state.cancelled[run] && state.opened[run] < its.turns.len() {
                found(Step::Open(run))?;
            }
        }
        if self.setup.abandons {
            for call in state.in_phase(Phase::Abandoned) {
                found(Step::ThreadEnds(call))?;
            }
        }
        ControlFlow::Continue(())
    }

    fn call_steps(
        &self,
        state: &State,
        call: usize,
        found: &mut dyn FnMut(Step) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let its = &self.tree.calls[call];
        match state.calls[call] {
            Phase::Pending | Phase::Asking | Phase::Approved | Phase::Waiting if state.cancelled[its.run] => {
                found(Step::Withdraw(call))
            }
            Phase::Pending if its.asks && !self.holds_while_asking() => found(Step::Prompt(call)),
            Phase::Pending | Phase::Approved if self.may_ask(state, call) => found(Step::Ask(call)),
            Phase::Asking => {
                found(Step::Approve(call))?;
                found(Step::Deny(call))
            }
            Phase::Running if its.child.is_none_or(|child| self.is_finished(state, child)) => {
                found(Step::End(call))?;
                match self.setup.abandons && its.child.is_none() {
                    true => found(Step::Abandon(call)),
                    false => ControlFlow::Continue(()),
                }
            }
            _ => ControlFlow::Continue(()),
        }
    }

    /// Whether a call is the first of its line, and the counters of its run let it start.
    fn may_ask(&self, state: &State, call: usize) -> bool {
        let its = &self.tree.calls[call];
        let head_waits = its.segment.clone().any(|other| state.calls[other] == Phase::Waiting);
        if head_waits || (its.segment.start..call).any(|earlier| self.is_in_line(state, earlier)) {
            return false;
        }
        let bounds = &self.setup.bounds;
        let beside = |counts: fn(Admission) -> bool| {
            let begun = |other: &usize| matches!(state.calls[*other], Phase::Waiting | Phase::Running);
            let of_kind = |other: &usize| counts(self.tree.calls[*other].kind);
            u32::try_from(its.segment.clone().filter(begun).filter(of_kind).count()).unwrap()
        };
        beside(|_| true) < bounds.max_parallel
            && (its.kind == Admission::Read
                || beside(|kind| kind != Admission::Read) < bounds.max_concurrent_mutations)
    }

    /// Whether a call is ready to start and has not started.
    fn is_in_line(&self, state: &State, call: usize) -> bool {
        match state.calls[call] {
            Phase::Pending => !self.tree.calls[call].asks || self.holds_while_asking(),
            Phase::Approved | Phase::Waiting => true,
            Phase::Asking | Phase::Running | Phase::Abandoned | Phase::Settled => false,
        }
    }

    /// The turn of a run that has calls without a result.
    fn open_turn(&self, state: &State, run: usize) -> Option<&Turn> {
        let last = state.opened[run].checked_sub(1)?;
        let turn = &self.tree.runs[run].turns[last];
        (!state.are_settled(turn.calls.clone())).then_some(turn)
    }

    /// Whether a run has nothing more to do.
    pub(super) fn is_finished(&self, state: &State, run: usize) -> bool {
        let is_last = state.opened[run] == self.tree.runs[run].turns.len();
        (state.cancelled[run] || is_last) && self.open_turn(state, run).is_none()
    }

    /// Hands a change of standing to its call. A permit that comes after a cancel starts nothing: it is given back when
    /// the call is withdrawn.
    fn tell(&self, state: &mut State, call: usize, standing: &Standing) {
        assert_eq!(state.calls[call], Phase::Waiting, "call {call} is told without waiting: {standing:?}");
        state.calls[call] = match standing {
            Standing::Waiting => Phase::Waiting,
            Standing::Granted if state.cancelled[self.tree.calls[call].run] => Phase::Waiting,
            Standing::Granted if self.holds_while_asking() && self.tree.calls[call].asks => Phase::Asking,
            Standing::Granted => Phase::Running,
            Standing::Refused(_) => Phase::Settled,
        };
    }

    /// Changes the permits, and tells whoever is concerned.
    fn with_permits<T>(
        &self,
        state: &mut State,
        change: impl FnOnce(&mut Permits, &mut dyn FnMut(u64, Standing)) -> T,
    ) -> T {
        let mut told = Vec::new();
        let given = change(&mut state.permits, &mut |ticket, standing| told.push((ticket, standing)));
        for (ticket, standing) in told {
            self.tell(state, usize::try_from(ticket).unwrap(), &standing);
        }
        given
    }

    fn settle(&self, state: &mut State, call: usize) {
        state.calls[call] = Phase::Settled;
        self.with_permits(state, |permits, told| permits.release(ticket(call), told));
    }
}

impl State {
    pub(super) fn are_settled(&self, mut calls: impl Iterator<Item = usize>) -> bool {
        calls.all(|call| matches!(self.calls[call], Phase::Settled | Phase::Abandoned))
    }

    pub(super) fn in_phase(&self, phase: Phase) -> impl Iterator<Item = usize> {
        self.calls.iter().enumerate().filter(move |(_, its)| **its == phase).map(|(call, _)| call)
    }
}

pub(super) fn ticket(call: usize) -> u64 {
    u64::try_from(call).unwrap()
}

impl Model for Executor {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            calls: vec![Phase::Pending; self.tree.calls.len()],
            opened: vec![0; self.tree.runs.len()],
            cancelled: vec![false; self.tree.runs.len()],
            permits: Permits::default(),
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Step>) {
        let (nested, leaves): (Vec<_>, Vec<_>) =
            state.in_phase(Phase::Running).partition(|call| self.tree.calls[*call].child.is_some());
        self.live_runs.fetch_max(nested.len(), Ordering::Relaxed);
        self.leaf_bodies.fetch_max(leaves.len(), Ordering::Relaxed);
        let _all = self.steps(state, &mut |step| {
            actions.push(step);
            ControlFlow::Continue(())
        });
    }

    fn next_state(&self, last: &State, step: Step) -> Option<State> {
        let mut state = last.clone();
        match step {
            Step::Cancel(run) => {
                for below in (0..self.tree.runs.len()).filter(|below| self.tree.is_below(*below, run)) {
                    state.cancelled[below] = true;
                }
            }
            Step::Open(run) => {
                let turn = &self.tree.runs[run].turns[state.opened[run]];
                state.opened[run] += 1;
                for call in turn.calls.clone() {
                    if self.tree.calls[call].kind == Admission::Instant {
                        state.calls[call] = Phase::Settled;
                    }
                }
            }
            Step::Prompt(call) => state.calls[call] = Phase::Asking,
            Step::Approve(call) if self.holds_while_asking() => state.calls[call] = Phase::Running,
            Step::Approve(call) => state.calls[call] = Phase::Approved,
            Step::Ask(call) => {
                state.calls[call] = Phase::Waiting;
                let claim = self.tree.calls[call].claim.clone();
                let standing =
                    self.with_permits(&mut state, |permits, told| permits.ask(ticket(call), claim, told));
                self.tell(&mut state, call, &standing);
            }
            Step::Deny(call) | Step::End(call) | Step::Withdraw(call) | Step::ThreadEnds(call) => {
                self.settle(&mut state, call);
            }
            Step::Abandon(call) => {
                state.calls[call] = Phase::Abandoned;
                self.with_permits(&mut state, |permits, told| permits.abandon(ticket(call), told));
            }
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        properties::all()
    }
}
