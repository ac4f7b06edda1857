//! A panic, a hang, an error or a cancel at every step.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use tinyagents::harness::message::Message;
use tokio::time::{Instant, timeout};

use super::scene::{GRACE, Kind, Scene, TIME};
use super::steps::{Fault, Plan, Step, Striker};

/// What closing may take after the grace.
const CLOSING: Duration = Duration::from_secs(2);

/// Runs with one plan; gives how often it struck, and what was wrong.
async fn injected(kinds: &[Kind], tight: bool, plan: Plan) -> (u32, Vec<String>) {
    let scene = Scene::new(kinds, tight, Striker::new(Some(plan)));
    let (ctx, handle) = scene.context();
    let start = Instant::now();
    let run = scene.harness.invoke_in_context(&(), ctx, vec![Message::user("go")]);
    let run = AssertUnwindSafe(timeout(TIME * 10, run)).catch_unwind().await;
    let took = start.elapsed();
    tokio::time::sleep(CLOSING).await;
    let mut problems = match run {
        Err(_) => vec!["the run panicked".to_string()],
        Ok(Err(_)) => vec!["the run hangs".to_string()],
        Ok(Ok(_)) => Vec::new(),
    };
    let longest = if plan.fault == Fault::Hang { TIME + GRACE + CLOSING } else { GRACE + CLOSING };
    if took > longest {
        problems.push(format!("the run took {took:?}"));
    }
    problems.extend(scene.problems(&handle));
    let problems = problems.into_iter().map(|found| format!("{kinds:?}, tight {tight}, {plan:?}: {found}"));
    (scene.striker.struck(), problems.collect())
}

#[tokio::test(start_paused = true)]
async fn any_fault_at_any_step_leaves_a_whole_transcript_and_ends_in_time() {
    let (mut scenarios, mut runs, mut faults, mut problems) = (0, 0, 0, Vec::new());
    for (kinds, tight) in turns() {
        scenarios += 1;
        for step in Step::ALL {
            for fault in Fault::ALL {
                // One fault at one place, and everything broken from some moment on.
                let again = step == Step::Any;
                for nth in 0.. {
                    let (struck, found) = injected(&kinds, tight, Plan { step, fault, nth, again }).await;
                    runs += 1;
                    faults += struck;
                    problems.extend(found);
                    assert!(problems.len() < 20, "{}", problems.join("\n"));
                    if struck == 0 {
                        break;
                    }
                }
            }
        }
    }
    println!(
        "faults: {scenarios} scenarios in {runs} runs, 0 drops, {faults} injected faults; {} transcripts broken",
        problems.len()
    );
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Every kind alone, and turns of two to five.
fn turns() -> Vec<(Vec<Kind>, bool)> {
    let all = Kind::ALL;
    let mut turns: Vec<(Vec<Kind>, bool)> = all.iter().map(|kind| (vec![*kind], false)).collect();
    for length in 2..=5 {
        for start in (0..all.len()).step_by(length.max(3) - 1) {
            let kinds = (0..length).map(|at| all[(start + at * (length + 2)) % all.len()]);
            turns.push((kinds.collect(), start % 2 == 0));
        }
    }
    turns
}
