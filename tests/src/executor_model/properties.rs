//! What must hold in every state. Each is named, so that a test can say which one a broken executor breaks.

use stateright::Property;
use tinyagents::harness::executor::Admission;

use super::model::{Executor, Phase, State, ticket};

pub(super) const ONE_WRITER: &str = "at most one mutating body in the tree";
pub(super) const ALONE: &str = "a mutating body overlaps nothing in its run";
pub(super) const NO_OVERTAKING: &str = "no call overtakes an earlier one across a boundary";
pub(super) const START_ORDER: &str = "the calls of a segment that ask nobody start in call order";
pub(super) const ASKS_EMPTY_HANDED: &str = "a call that asks a human holds and awaits no permit";
pub(super) const CAPS: &str = "no more bodies than permits, and the books agree";
pub(super) const RANKS: &str = "whoever waits holds only lower ranks, and so do its callers";
pub(super) const NO_IDLE_PERMIT: &str = "nobody waits for a permit that is free";
pub(super) const NO_DEADLOCK: &str = "something goes on until the root run is finished";
pub(super) const WHOLE_END: &str = "at the end every call is settled and no permit is held";

pub(super) fn all() -> Vec<Property<Executor>> {
    vec![
        Property::always(ONE_WRITER, one_writer),
        Property::always(ALONE, alone),
        Property::always(NO_OVERTAKING, no_overtaking),
        Property::always(START_ORDER, start_order),
        Property::always(ASKS_EMPTY_HANDED, asks_empty_handed),
        Property::always(CAPS, caps),
        Property::always(RANKS, ranks),
        Property::always(NO_IDLE_PERMIT, no_idle_permit),
        Property::always(NO_DEADLOCK, |executor, state| {
            executor.is_finished(state, 0) || executor.goes_on(state)
        }),
        Property::always(WHOLE_END, whole_end),
    ]
}

/// A thread that was given up on still writes.
fn one_writer(executor: &Executor, state: &State) -> bool {
    let writes = |call: &usize| executor.tree.calls[*call].kind == Admission::Mutate;
    let bodies = state.in_phase(Phase::Running).chain(state.in_phase(Phase::Abandoned));
    bodies.filter(writes).count() <= 1
}

fn alone(executor: &Executor, state: &State) -> bool {
    let calls = &executor.tree.calls;
    state.in_phase(Phase::Running).filter(|call| calls[*call].kind == Admission::Mutate).all(|call| {
        state.in_phase(Phase::Running).all(|other| other == call || calls[other].run != calls[call].run)
    })
}

fn no_overtaking(executor: &Executor, state: &State) -> bool {
    let begun = [Phase::Asking, Phase::Approved, Phase::Waiting, Phase::Running];
    let fits = |(call, phase): (usize, &Phase)| {
        !begun.contains(phase) || state.are_settled(executor.tree.calls[call].after.iter().copied())
    };
    state.calls.iter().enumerate().all(fits)
}

fn start_order(executor: &Executor, state: &State) -> bool {
    let calls = &executor.tree.calls;
    let waits = |call: usize| matches!(state.calls[call], Phase::Pending | Phase::Waiting);
    let started = |call: usize| matches!(state.calls[call], Phase::Waiting | Phase::Running);
    (0..calls.len()).filter(|call| started(*call) && !calls[*call].asks).all(|call| {
        let mut earlier = (calls[call].segment.start..call).filter(|earlier| !calls[*earlier].asks);
        state.cancelled[calls[call].run] || !earlier.any(waits)
    })
}

fn asks_empty_handed(_: &Executor, state: &State) -> bool {
    state.in_phase(Phase::Asking).all(|call| {
        let permits = &state.permits;
        permits.holding(ticket(call)).next().is_none() && permits.awaited(ticket(call)).is_none()
    })
}

fn caps(executor: &Executor, state: &State) -> bool {
    let calls = &executor.tree.calls;
    let all_held = executor.tree.resources.iter().all(|(resource, cap)| {
        let claims = |call: &usize| calls[*call].claim.parts().any(|(claimed, _)| claimed == resource);
        let bodies = state.in_phase(Phase::Running).chain(state.in_phase(Phase::Abandoned));
        let bodies = bodies.filter(claims).count();
        let holders = (0..calls.len())
            .filter(|call| state.permits.holding(ticket(*call)).any(|held| held == resource))
            .count();
        let held = usize::try_from(state.permits.held(resource)).unwrap();
        bodies <= held && held == holders && held <= usize::try_from(*cap).unwrap()
    });
    let strangers = state.calls.iter().enumerate().all(|(call, phase)| match phase {
        Phase::Pending | Phase::Approved | Phase::Settled => {
            state.permits.holding(ticket(call)).next().is_none()
        }
        _ => true,
    });
    all_held && strangers
}

fn ranks(executor: &Executor, state: &State) -> bool {
    state.in_phase(Phase::Waiting).all(|waiting| {
        let Some(awaited) = state.permits.awaited(ticket(waiting)) else { return true };
        let caller = |call: &usize| executor.tree.caller(executor.tree.calls[*call].run);
        let mut chain = std::iter::successors(Some(waiting), caller);
        chain.all(|call| state.permits.holding(ticket(call)).all(|held| held.rank() < awaited.rank()))
    })
}

fn no_idle_permit(executor: &Executor, state: &State) -> bool {
    state.in_phase(Phase::Waiting).filter_map(|call| state.permits.awaited(ticket(call))).all(|awaited| {
        let cap = executor.tree.resources.iter().find(|(resource, _)| resource == awaited);
        cap.is_some_and(|(_, cap)| state.permits.held(awaited) >= *cap)
    })
}

fn whole_end(executor: &Executor, state: &State) -> bool {
    let opened = executor.tree.runs.iter().zip(&state.opened);
    let mut calls = opened.flat_map(|(run, opened)| &run.turns[..*opened]).map(|turn| turn.calls.clone());
    let no_thread = state.in_phase(Phase::Abandoned).next().is_none();
    !executor.is_finished(state, 0)
        || (calls.all(|turn| state.are_settled(turn)) && (!no_thread || state.permits.is_idle()))
}
