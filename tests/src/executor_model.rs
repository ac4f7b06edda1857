//! Every interleaving of small trees of runs, checked: no deadlock, no broken bound, no overtaking.
//!
//! The model drives the library's own `plan` and `Permits`. Its states form no cycle (each step moves one call or one
//! run forward), so where nothing is stuck, every schedule ends. Executors that are broken in one way are found
//! broken by the same check. Not here: time, tasks and wakers.

mod model;
mod properties;
mod tree;

use std::sync::atomic::Ordering;

use proptest::prelude::RngCore;
use proptest::test_runner::{RngAlgorithm, TestRng};
use stateright::{Checker, Model};
use tinyagents::harness::executor::Admission::{self, Instant, Mutate, Nested, NestedRead, Overlap, Read};

use model::Executor;
use properties::{ALONE, ASKS_EMPTY_HANDED, NO_DEADLOCK, NO_OVERTAKING, RANKS};
use tree::{Setup, Spec, Turns, Variant, call, nested};

/// What a check of all states found.
struct Found {
    states: usize,
    live_runs: usize,
    leaf_bodies: usize,
    /// The properties that some state breaks, in the order of their names.
    broken: Vec<&'static str>,
    /// The first such state of each, and the way there.
    how: String,
}

fn explore(setup: Setup) -> Found {
    let checker = Executor::new(setup).checker().threads(1).spawn_bfs().join();
    let mut broken: Vec<_> = checker.discoveries().into_iter().collect();
    broken.sort_by_key(|(name, _)| *name);
    let how = broken.iter().map(|(name, path)| format!("{name}: {:?}\n", path.clone().into_actions()));
    Found {
        states: checker.unique_state_count(),
        live_runs: checker.model().live_runs.load(Ordering::Relaxed),
        leaf_bodies: checker.model().leaf_bodies.load(Ordering::Relaxed),
        how: how.collect(),
        broken: broken.into_iter().map(|(name, _)| name).collect(),
    }
}

/// Checks a configuration and prints a line on it.
fn check(name: &str, setup: Setup) -> Found {
    let found = explore(setup);
    let stuck = if found.broken.contains(&NO_DEADLOCK) { "DEADLOCK" } else { "no deadlock" };
    println!(
        "model: {name}: {} states, {stuck}, at most {} live nested runs and {} leaf bodies",
        found.states, found.live_runs, found.leaf_bodies
    );
    for name in found.broken.iter().filter(|name| **name != NO_DEADLOCK) {
        println!("model: {name:?} does not hold");
    }
    found
}

/// Checks a configuration in which everything must hold.
fn holds(name: &str, setup: Setup) -> Found {
    let found = check(name, setup);
    assert!(found.broken.is_empty(), "{}", found.how);
    found
}

/// Three levels: two nested calls, each of whose runs has a nested call and a mutating one that asks a human.
fn three_levels() -> Turns {
    let grandchild = vec![vec![call(Read), call(Mutate)]];
    let child = vec![vec![nested(grandchild), call(Mutate).asking()]];
    vec![vec![nested(child.clone()), nested(child)]]
}

/// One turn of every kind, and a second one.
fn mixed_turn() -> Turns {
    let first = vec![
        call(Read),
        call(Read),
        call(Instant),
        call(Mutate).asking(),
        call(Read),
        call(Overlap),
        call(Overlap),
        call(Mutate),
    ];
    vec![first, vec![call(Read)]]
}

/// Two nested calls, each of whose runs has two: a fan-out of 2 × 2.
fn wide() -> Turns {
    let leaf = || nested(vec![vec![call(Read)]]);
    let middle = || nested(vec![vec![leaf(), leaf()]]);
    vec![vec![middle(), middle()]]
}

#[test]
fn three_levels_with_every_cap_1() {
    let setup = Setup { limit: Some(1), ..Setup::new(three_levels(), Variant::Proposal, 1, 1) };
    holds("proposal, three levels, caps 1", setup.clone());
    holds("proposal, three levels, caps 1, any run cancelled", Setup { cancels_any: true, ..setup });
}

#[test]
fn three_levels_with_caps_2() {
    holds("proposal, three levels, caps 2", Setup::new(three_levels(), Variant::Proposal, 2, 2));
}

#[test]
fn one_mixed_turn_with_approvals() {
    let found = holds("proposal, one mixed turn", Setup::new(mixed_turn(), Variant::Proposal, 1, 2));
    assert_eq!(found.leaf_bodies, 2, "neighbours run side by side");
}

/// Three runs side by side, each with one mutating call.
fn three_writers() -> Turns {
    let writer = || nested(vec![vec![call(Mutate)]]);
    vec![vec![writer(), writer(), writer()]]
}

/// Two chains of three levels.
fn two_chains() -> Turns {
    let chain = || nested(vec![vec![nested(vec![vec![call(Read)]])]]);
    vec![vec![chain(), chain()]]
}

#[test]
fn one_pool_per_depth_bounds_live_runs_where_one_per_parent_does_not() {
    let found = holds("proposal, fan-out 2x2, caps 2", Setup::new(wide(), Variant::Proposal, 2, 8));
    assert_eq!((found.live_runs, found.leaf_bodies), (4, 2));
    let found = holds("one pool per parent, fan-out 2x2", Setup::new(wide(), Variant::PoolPerParent, 2, 8));
    assert_eq!((found.live_runs, found.leaf_bodies), (6, 4));
}

#[test]
fn a_run_that_is_told_to_be_serial_has_one_call_at_a_time() {
    let mut setup = Setup::new(wide(), Variant::Proposal, 2, 8);
    setup.bounds.max_parallel = 1;
    let found = holds("proposal, fan-out 2x2, serial runs", setup);
    assert_eq!((found.live_runs, found.leaf_bodies), (2, 1));
}

#[test]
fn calls_that_change_something_have_a_counter_of_their_own() {
    let mut setup = Setup::new(wide(), Variant::Proposal, 2, 8);
    setup.bounds.max_concurrent_mutations = 1;
    let found = holds("proposal, fan-out 2x2, one mutation per run", setup);
    assert_eq!((found.live_runs, found.leaf_bodies), (2, 1));
}

#[test]
fn threads_that_never_end_stop_nobody_else() {
    let child = vec![vec![call(Read), call(Mutate)]];
    let turns = vec![vec![nested(child.clone()), nested(child)], vec![call(Mutate)]];
    for bodies in [1, 2] {
        for limit in [None, Some(1)] {
            let setup = Setup::new(turns.clone(), Variant::Proposal, 2, bodies);
            let name = format!("proposal, abandoned threads, {bodies} bodies, limit {limit:?}");
            holds(&name, Setup { abandons: true, limit, ..setup });
        }
    }
}

/// A small random tree; `left` bounds its calls.
fn random_turns(rng: &mut TestRng, depth: u32, reads_only: bool, left: &mut u32) -> Turns {
    let kinds: &[Admission] = match (reads_only, depth) {
        (true, 0) => &[Read],
        (true, _) => &[Read, NestedRead],
        (false, 0) => &[Read, Mutate, Overlap, Instant],
        (false, _) => &[Read, Mutate, Overlap, Instant, Nested, Nested, NestedRead],
    };
    let mut turns = Turns::new();
    for _ in 0..=below(rng, 2) {
        let mut turn = Vec::new();
        for _ in 0..=below(rng, 3) {
            if *left == 0 {
                break;
            }
            *left -= 1;
            let kind = kinds[below(rng, kinds.len())];
            let asks = kind != Instant && below(rng, 10) < 3;
            let turns = match kind.is_nested() {
                true => random_turns(rng, depth - 1, reads_only || kind == NestedRead, left),
                false => Turns::new(),
            };
            turn.push(Spec { kind, asks, turns });
        }
        turns.push(turn);
    }
    turns
}

fn below(rng: &mut TestRng, bound: usize) -> usize {
    usize::try_from(rng.next_u32()).unwrap() % bound
}

#[test]
fn three_hundred_random_trees() {
    let mut rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let (mut states, mut largest, mut side_by_side) = (0, 0, 0);
    for number in 0..300 {
        let turns = random_turns(&mut rng, 2, false, &mut 9);
        let cap = |rng: &mut TestRng| 1 + u32::from(below(rng, 2) == 1);
        let mut setup = Setup::new(turns, Variant::Proposal, cap(&mut rng), cap(&mut rng));
        setup.limit = (below(&mut rng, 2) == 1).then_some(1);
        setup.bounds.max_parallel = 1 + cap(&mut rng);
        setup.bounds.max_concurrent_mutations = cap(&mut rng);
        setup.abandons = below(&mut rng, 4) == 0;
        setup.cancels_any = below(&mut rng, 4) == 0;
        let found = explore(setup.clone());
        assert!(found.broken.is_empty(), "tree {number}: {setup:?}\n{}", found.how);
        states += found.states;
        largest = largest.max(found.states);
        side_by_side += u32::from(found.live_runs > 1);
    }
    println!(
        "model: proposal, 300 random trees, {side_by_side} with nested runs side by side: {states} states, the largest \
         {largest}, no deadlock"
    );
    assert!(side_by_side > 30, "the trees are too simple to say anything");
}

#[test]
fn one_pool_for_the_tree_is_seen_to_deadlock() {
    let found = check("one pool for the tree", Setup::new(two_chains(), Variant::OnePool, 2, 8));
    assert_eq!(found.broken, [NO_DEADLOCK, RANKS]);
    holds("the same tree, one pool for each depth", Setup::new(two_chains(), Variant::Proposal, 2, 8));
}

#[test]
fn a_nested_tools_limit_for_the_whole_tree_is_seen_to_deadlock() {
    let setup = |variant| Setup { limit: Some(1), ..Setup::new(three_levels(), variant, 2, 2) };
    let found = check("a nested tool's limit for the whole tree", setup(Variant::ToolLimitForTheTree));
    assert_eq!(found.broken, [NO_DEADLOCK, RANKS]);
    holds("the same tree, the limit for each depth", setup(Variant::Proposal));
}

#[test]
fn nested_calls_that_take_the_writer_permit_are_seen_to_deadlock() {
    let setup = Setup::new(three_levels(), Variant::NestedTakesWriter, 1, 1);
    let found = check("nested calls through the writer permit", setup);
    assert_eq!(found.broken, [NO_DEADLOCK, RANKS]);
}

#[test]
fn asking_a_human_with_permits_in_hand_is_seen() {
    let setup = Setup::new(mixed_turn(), Variant::AsksWhileHolding, 1, 2);
    let found = check("approval asked after acquiring", setup);
    assert_eq!(found.broken, [ASKS_EMPTY_HANDED]);
}

#[test]
fn permits_without_segments_are_seen_to_let_calls_overtake() {
    let found = check("no barrier, permits only", Setup::new(mixed_turn(), Variant::NoBarrier, 1, 2));
    assert_eq!(found.broken, [ALONE, NO_OVERTAKING]);
}

#[test]
fn permits_in_the_wrong_order_are_seen_to_deadlock() {
    let found = check("one claim in reversed order", Setup::new(three_writers(), Variant::Reversed, 3, 1));
    assert_eq!(found.broken, [NO_DEADLOCK, RANKS]);
    holds("the same tree, claims in rank order", Setup::new(three_writers(), Variant::Proposal, 3, 1));
}
