//! Which calls of a turn may run side by side, and the permits that bound them in a whole tree.
//!
//! Guarantee: permits go to those who wait in the order in which they came, never above a cap, and never stay free
//! while someone waits; nobody waits for threads that cannot be stopped. Not here: how runs nest (`executor_model`).

mod watch;

use proptest::prelude::*;
use serde_json::json;
use tinyagents::harness::executor::Admission::{self, Instant, Mutate, Nested, NestedRead, Overlap, Read};
use tinyagents::harness::executor::{Claim, ExecutorBounds, Permits, Resource, Standing, ZeroBound, plan};
use tinyagents::harness::id::ToolName;

use Standing::{Granted, Refused, Waiting};
use watch::{Act, Watch};

fn tool(name: &str) -> ToolName {
    ToolName::new(name).unwrap()
}

fn bounds(runs: u32, bodies: u32) -> ExecutorBounds {
    ExecutorBounds { max_runs_per_depth: runs, max_bodies: bodies, ..ExecutorBounds::default() }
}

/// What a call of the outermost run claims, with `bodies` bodies in the tree.
fn claim(kind: Admission, name: &str, limit: Option<u32>, bodies: u32) -> Claim {
    Claim::of(kind, 0, &tool(name), limit, &bounds(1, bodies))
}

/// Permits, and who was told what since the last look.
#[derive(Default)]
struct Desk {
    permits: Permits,
    told: Vec<(u64, Standing)>,
}

impl Desk {
    fn ask(&mut self, ticket: u64, claim: Claim) -> Standing {
        self.permits.ask(ticket, claim, &mut |ticket, standing| self.told.push((ticket, standing)))
    }

    fn release(&mut self, ticket: u64) -> Vec<(u64, Standing)> {
        self.permits.release(ticket, &mut |ticket, standing| self.told.push((ticket, standing)));
        std::mem::take(&mut self.told)
    }

    fn abandon(&mut self, ticket: u64) -> Vec<(u64, Standing)> {
        self.permits.abandon(ticket, &mut |ticket, standing| self.told.push((ticket, standing)));
        std::mem::take(&mut self.told)
    }

    fn held(&self, resource: &Resource) -> u32 {
        self.permits.held(resource)
    }
}

#[test]
fn permits_go_to_waiters_in_the_order_in_which_they_came() {
    let mut desk = Desk::default();
    let read = || claim(Read, "look", None, 2);
    let standings: Vec<_> = (0..6).map(|ticket| desk.ask(ticket, read())).collect();
    assert_eq!(standings, [Granted, Granted, Waiting, Waiting, Waiting, Waiting]);
    assert_eq!(desk.release(1), [(2, Granted)]);
    assert_eq!(desk.release(0), [(3, Granted)]);
    assert_eq!(desk.release(3), [(4, Granted)]);
    assert_eq!(desk.held(&Resource::Body), 2);
}

#[test]
fn a_newcomer_does_not_pass_those_who_wait() {
    let mut desk = Desk::default();
    assert_eq!(desk.ask(0, claim(Mutate, "write", None, 2)), Granted);
    assert_eq!(desk.ask(1, claim(Mutate, "write", None, 2)), Waiting, "for the writer permit");
    assert_eq!(desk.ask(2, claim(Read, "look", None, 2)), Granted, "who waits for another permit is no line");
    assert_eq!(desk.ask(3, claim(Read, "look", None, 2)), Waiting);
    assert_eq!(desk.release(2), [(3, Granted)]);
    assert_eq!(desk.ask(4, claim(Read, "look", None, 2)), Waiting);
    // The second writer comes to the line for bodies last, though it asked first.
    assert_eq!(desk.release(0), [(4, Granted)]);
    assert_eq!(desk.permits.awaited(1), Some(&Resource::Body));
    assert_eq!(desk.release(3), [(1, Granted)]);
}

#[test]
fn what_is_handed_over_climbs_on_and_is_told_once() {
    let mut desk = Desk::default();
    let limited = || claim(Mutate, "write", Some(1), 1);
    let own = Resource::Tool { tool: tool("write") };
    assert_eq!(desk.ask(0, limited()), Granted);
    assert_eq!(desk.ask(1, limited()), Waiting);
    assert_eq!(desk.ask(2, claim(Mutate, "move", None, 1)), Waiting);
    assert_eq!(desk.ask(3, claim(Read, "look", None, 1)), Waiting);
    // 1 gets the tool and waits on behind 2, who gets the writer permit and waits on behind 3.
    assert_eq!(desk.release(0), [(3, Granted)]);
    assert_eq!((desk.held(&own), desk.held(&Resource::Writer), desk.held(&Resource::Body)), (1, 1, 1));
    assert_eq!(desk.permits.holding(1).collect::<Vec<_>>(), [&own]);
    assert_eq!(desk.permits.awaited(1), Some(&Resource::Writer));
    assert_eq!(desk.release(3), [(2, Granted)]);
    assert_eq!(desk.release(2), [(1, Granted)]);
    assert_eq!(desk.release(1), []);
    assert!(desk.permits.is_idle());
}

#[test]
fn who_leaves_a_line_leaves_the_others_in_order() {
    let mut desk = Desk::default();
    for ticket in 0..5 {
        desk.ask(ticket, claim(Overlap, "send", None, 1));
    }
    assert_eq!(desk.release(2), []);
    assert_eq!(desk.release(0), [(1, Granted)]);
    assert_eq!(desk.release(1), [(3, Granted)]);
    assert_eq!(desk.release(4), []);
    assert_eq!(desk.release(3), []);
    assert!(desk.permits.is_idle());
}

#[test]
fn who_leaves_a_line_hands_on_what_it_held() {
    let mut desk = Desk::default();
    assert_eq!(desk.ask(0, claim(Read, "look", None, 1)), Granted);
    assert_eq!(desk.ask(1, claim(Mutate, "write", Some(1), 1)), Waiting, "for a body, with the rest in hand");
    assert_eq!(desk.ask(2, claim(Mutate, "write", Some(1), 1)), Waiting, "for the tool");
    assert_eq!(desk.release(1), []);
    assert_eq!(desk.permits.holding(2).count(), 2, "2 has what 1 had");
    assert_eq!(desk.release(0), [(2, Granted)]);
}

#[test]
fn a_release_that_is_repeated_or_unknown_changes_nothing() {
    let mut desk = Desk::default();
    assert_eq!(desk.ask(0, claim(Read, "look", None, 1)), Granted);
    assert_eq!(desk.ask(1, claim(Read, "look", None, 1)), Waiting);
    assert_eq!(desk.release(0), [(1, Granted)]);
    let before = desk.permits.clone();
    assert_eq!(desk.release(0), []);
    assert_eq!(desk.release(77), []);
    assert_eq!(desk.abandon(77), []);
    assert_eq!(desk.permits, before);
}

#[test]
fn a_ticket_that_asks_again_takes_nothing_twice() {
    let mut desk = Desk::default();
    let write = || claim(Mutate, "write", None, 1);
    assert_eq!(desk.ask(0, write()), Granted);
    assert_eq!(desk.ask(1, write()), Waiting);
    assert_eq!((desk.ask(0, write()), desk.ask(1, write())), (Granted, Waiting));
    assert_eq!(desk.release(0), [(1, Granted)]);
    assert_eq!(desk.release(1), []);
    assert!(desk.permits.is_idle(), "nothing is left behind");
}

#[test]
fn nobody_waits_for_abandoned_permits_alone() {
    let mut desk = Desk::default();
    let write = || claim(Mutate, "write", None, 4);
    for ticket in 0..3 {
        desk.ask(ticket, write());
    }
    let busy = || Refused(Resource::Writer);
    assert_eq!(desk.abandon(0), [(1, busy()), (2, busy())]);
    assert_eq!(desk.ask(3, write()), busy(), "and neither does who asks later");
    assert_eq!(desk.ask(4, claim(Read, "look", None, 4)), Granted, "what is free is not refused");
    assert_eq!(desk.abandon(0), [], "to give up twice changes nothing");
    assert_eq!(desk.held(&Resource::Writer), 1, "the thread still holds it");
    assert_eq!(desk.release(0), []);
    assert_eq!(desk.ask(5, write()), Granted, "the thread has ended");
}

#[test]
fn a_permit_that_may_come_back_is_waited_for() {
    let mut desk = Desk::default();
    for ticket in 0..3 {
        desk.ask(ticket, claim(Read, "look", None, 2));
    }
    assert_eq!(desk.abandon(0), [], "1 will end");
    assert_eq!(desk.release(1), [(2, Granted)]);
    assert_eq!(desk.ask(3, claim(Read, "look", None, 2)), Waiting);
    assert_eq!(desk.abandon(2), [(3, Refused(Resource::Body))]);
    assert_eq!(desk.ask(4, claim(Mutate, "write", None, 2)), Refused(Resource::Body));
    assert_eq!(desk.held(&Resource::Writer), 0, "who is refused holds nothing");
    assert_eq!(desk.release(0), []);
    assert_eq!(desk.ask(5, claim(Read, "look", None, 2)), Granted);
}

#[test]
fn what_a_refused_claim_held_is_handed_on() {
    let mut desk = Desk::default();
    assert_eq!(desk.ask(0, claim(Mutate, "move", None, 4)), Granted);
    assert_eq!(desk.ask(1, claim(Mutate, "write", Some(1), 4)), Waiting, "for the writer permit");
    assert_eq!(desk.ask(2, claim(Mutate, "write", Some(1), 4)), Waiting, "for the tool");
    assert_eq!(desk.ask(3, claim(Overlap, "write", Some(1), 4)), Waiting, "for the tool");
    let busy = || Refused(Resource::Writer);
    assert_eq!(desk.abandon(0), [(1, busy()), (2, busy()), (3, Granted)]);
}

#[test]
fn a_waiter_that_is_given_up_on_has_nothing_to_keep() {
    let mut desk = Desk::default();
    assert_eq!(desk.ask(0, claim(Mutate, "move", None, 2)), Granted);
    assert_eq!(desk.ask(1, claim(Mutate, "write", Some(1), 2)), Waiting);
    assert_eq!(desk.ask(2, claim(Overlap, "write", Some(1), 2)), Waiting);
    // It never started, so no thread holds its permits.
    assert_eq!(desk.abandon(1), [(2, Granted)]);
    assert_eq!(desk.release(0), []);
    assert_eq!(desk.release(1), []);
    assert_eq!(desk.ask(3, claim(Mutate, "move", None, 2)), Granted);
    desk.release(2);
    desk.release(3);
    assert!(desk.permits.is_idle());
}

#[test]
fn a_limit_of_zero_refuses_instead_of_waiting_for_ever() {
    let mut desk = Desk::default();
    let own = Resource::Tool { tool: tool("look") };
    assert_eq!(desk.ask(0, claim(Read, "look", Some(0), 1)), Refused(own));
    assert!(desk.permits.is_idle());
}

#[test]
fn claims_rise_in_rank_and_those_of_deeper_runs_rank_higher() {
    let kinds = [Read, Mutate, Overlap, Nested, NestedRead];
    let mut highest = 0;
    for depth in [0, 1, 2, 1000] {
        for kind in kinds {
            let claim = Claim::of(kind, depth, &tool("act"), Some(1), &ExecutorBounds::default());
            let ranks: Vec<_> = claim.parts().map(|(resource, _)| resource.rank()).collect();
            assert!(!ranks.is_empty() && ranks.is_sorted_by(|a, b| a < b), "{kind:?} at {depth}: {ranks:?}");
            assert!(ranks[0] > highest, "{kind:?} at {depth} is below what its callers hold");
        }
        let nested = Claim::of(Nested, depth, &tool("act"), Some(1), &ExecutorBounds::default());
        highest = nested.parts().last().unwrap().0.rank();
    }
    assert_eq!(Claim::of(Instant, 0, &tool("act"), Some(1), &ExecutorBounds::default()), Claim::default());
    let request = Claim::model_request(&ExecutorBounds::default());
    assert!(request.parts().all(|(resource, _)| resource.rank() > highest));
}

#[test]
fn a_bound_of_zero_is_refused_by_name() {
    assert_eq!(ExecutorBounds::default().check(), Ok(()));
    let all = serde_json::to_value(ExecutorBounds::default()).unwrap();
    for name in all.as_object().unwrap().keys() {
        let zero: ExecutorBounds = serde_json::from_value(json!({ name: 0 })).unwrap();
        let ZeroBound(refused) = zero.check().unwrap_err();
        assert_eq!(refused, name);
        let one: ExecutorBounds = serde_json::from_value(json!({ name: 1 })).unwrap();
        assert_eq!(one.check(), Ok(()));
    }
}

/// One of three tools, which have limits of 1 and 2 and none.
fn any_claim(runs: u32, bodies: u32) -> impl Strategy<Value = Claim> {
    let kind = prop::sample::select(vec![Read, Mutate, Mutate, Overlap, Nested, NestedRead, Instant]);
    let tools = prop::sample::select(vec![("one", Some(1)), ("two", Some(2)), ("free", None)]);
    let request = Claim::model_request(&ExecutorBounds { max_model_requests: 1, ..bounds(runs, bodies) });
    prop_oneof![
        12 => (kind, 0..2u32, tools).prop_map(move |(kind, depth, (name, limit))| {
            Claim::of(kind, depth, &tool(name), limit, &bounds(runs, bodies))
        }),
        1 => Just(request),
    ]
}

fn any_acts() -> impl Strategy<Value = Vec<Act>> {
    (1..3u32, 1..4u32).prop_flat_map(|(runs, bodies)| {
        let act = prop_oneof![
            5 => any_claim(runs, bodies).prop_map(Act::Ask),
            3 => any::<prop::sample::Index>().prop_map(Act::Release),
            1 => any::<prop::sample::Index>().prop_map(Act::Abandon),
        ];
        prop::collection::vec(act, 0..60)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn whatever_is_asked_and_given_back_the_permits_keep_their_promises(acts in any_acts()) {
        let mut watch = Watch::default();
        for act in acts {
            watch.act(act);
        }
        watch.drain();
    }

    #[test]
    fn a_plan_covers_a_turn_in_order_and_groups_all_that_may_be_grouped(
        kinds in prop::collection::vec(
            prop::sample::select(vec![Read, Mutate, Overlap, Nested, NestedRead, Instant]), 0..24)
    ) {
        let segments = plan(&kinds);
        let group = |index: usize| if kinds[index] == NestedRead { Read } else { kinds[index] };
        let runs = |index: &usize| kinds[*index] != Instant;
        for segment in &segments {
            prop_assert!(!segment.is_empty() && runs(&segment.start) && runs(&(segment.end - 1)));
            prop_assert!(segment.clone().filter(runs).all(|index| group(index) == group(segment.start)));
            prop_assert!(kinds[segment.start] != Mutate || segment.len() == 1, "a mutating call is alone");
        }
        for pair in segments.windows(2) {
            let (before, after) = (&pair[0], &pair[1]);
            prop_assert!(before.end <= after.start);
            let groups = (group(before.start), group(after.start));
            prop_assert!(groups.0 == Mutate || groups.0 != groups.1, "{before:?} and {after:?} are one");
        }
        let covered: Vec<_> = segments.iter().cloned().flatten().filter(runs).collect();
        prop_assert_eq!(&covered, &(0..kinds.len()).filter(runs).collect::<Vec<_>>());

        // Without its instant calls the turn is cut in the same places.
        let others: Vec<_> = covered.iter().map(|index| kinds[*index]).collect();
        let cut: Vec<Vec<_>> = plan(&others).iter().map(|part| covered[part.clone()].to_vec()).collect();
        let whole: Vec<Vec<_>> = segments.iter().map(|part| part.clone().filter(runs).collect()).collect();
        prop_assert_eq!(cut, whole);
    }
}
