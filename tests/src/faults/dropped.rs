//! The run's future dropped at every await.

use std::future::poll_fn;
use std::task::Poll;

use tinyagents::harness::message::Message;

use super::scene::{Kind, Scene};
use super::steps::{STEP, Striker};

/// Polls a future `times` times, and lets everything else run and time pass in between; says whether it ended.
async fn polled(run: &mut (impl Future + Unpin), times: usize) -> bool {
    for _ in 0..times {
        if poll_fn(|cx| Poll::Ready(std::pin::Pin::new(&mut *run).poll(cx).is_ready())).await {
            return true;
        }
        tokio::time::advance(STEP).await;
    }
    false
}

/// Lets everything run that can, while no time passes.
async fn woken() {
    for _ in 0..8 {
        tokio::task::yield_now().await;
    }
}

/// Drops a run of these calls after every number of polls; gives how often, and what was wrong.
async fn drops(kinds: &[Kind], tight: bool) -> (usize, Vec<String>) {
    let mut problems = Vec::new();
    for times in 0.. {
        let scene = Scene::new(kinds, tight, Striker::default());
        let (ctx, handle) = scene.context();
        let mut run = Box::pin(scene.harness.invoke_in_context(&(), ctx, vec![Message::user("go")]));
        let whole = polled(&mut run, times).await;
        drop(run);
        // A body of a nested run hears of it when the call around it is dropped, one turn of the runtime later.
        let nested = kinds.iter().any(|kind| matches!(kind, Kind::Nested | Kind::NestedRead));
        let at_once = scene.bodies.ended.get();
        woken().await;
        let ended = if nested { scene.bodies.ended.get() } else { at_once };
        tokio::time::sleep(STEP * 100).await;
        let mut found = scene.problems(&handle);
        let later = scene.bodies.ended.get() - ended;
        if later != 0 {
            found.push(format!("{later} bodies ran on"));
        }
        if times > 0 && handle.queue("too late").is_ok() {
            found.push("a message was queued for a run that is over".into());
        }
        let last = scene.events.kinds().last().copied();
        if times > 0 && !whole && !scene.events.kinds().contains(&"run.failed") {
            found.push(format!("the last event is {last:?}"));
        }
        problems.extend(found.into_iter().map(|found| format!("{kinds:?}, {times} polls: {found}")));
        if whole || problems.len() > 20 {
            return (times, problems);
        }
        assert!(times < 2_000, "{kinds:?} does not end");
    }
    unreachable!("the loop ends with the run")
}

#[tokio::test(start_paused = true)]
async fn a2_a_run_dropped_at_any_await_leaves_a_whole_transcript() {
    let (mut scenarios, mut dropped, mut problems) = (0, 0, Vec::new());
    for (kinds, tight) in turns() {
        let (drops, found) = drops(&kinds, tight).await;
        scenarios += 1;
        dropped += drops;
        problems.extend(found);
        assert!(problems.len() < 20, "{}", problems.join("\n"));
    }
    println!(
        "faults: {scenarios} scenarios, {dropped} drops, 0 injected faults; {} transcripts broken",
        problems.len()
    );
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Every kind alone, every pair, and turns of three to five.
fn turns() -> Vec<(Vec<Kind>, bool)> {
    let all = Kind::ALL;
    let mut turns: Vec<(Vec<Kind>, bool)> = all.iter().map(|kind| (vec![*kind], false)).collect();
    for first in all {
        turns.extend(all.iter().map(|second| (vec![first, *second], true)));
    }
    for length in 3..=5 {
        for start in 0..all.len() {
            for stride in [1, 7] {
                let kinds = (0..length).map(|at| all[(start + at * stride) % all.len()]);
                turns.push((kinds.collect(), length == 4));
            }
        }
    }
    turns
}
