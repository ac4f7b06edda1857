//! Plain functions: each has a thread of its own, so none holds up the others or the runtime.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

use serde_json::json;
use tinyagents::harness::executor::ExecutorBounds;
use tinyagents::harness::policy::ToolPolicy;
use tinyagents::prelude::*;
use tinyagents::testkit::ScriptedModel;

use super::{calls, plain, texts};
use crate::fixture::{Stage, results};

/// How long a body waits for what should happen at once, before the test fails.
const PATIENCE: Duration = Duration::from_secs(20);

/// What the bodies of one test have in common.
#[derive(Default)]
struct Mill {
    /// How many are to run at once before the first may end.
    together: usize,
    begun: AtomicUsize,
    live: AtomicUsize,
    peak: AtomicUsize,
    /// Whether the runtime's own task has been served.
    ticked: AtomicBool,
    starved: AtomicBool,
}

/// Grind for 50 milliseconds.
#[tool(read_only)]
fn grind(stone: u32, #[inject] mill: &Mill) -> String {
    let start = Instant::now();
    mill.begun.fetch_add(1, SeqCst);
    let live = mill.live.fetch_add(1, SeqCst) + 1;
    mill.peak.fetch_max(live, SeqCst);
    let done = || {
        start.elapsed() >= Duration::from_millis(50)
            && mill.begun.load(SeqCst) >= mill.together
            && mill.ticked.load(SeqCst)
    };
    while !done() && start.elapsed() < PATIENCE {
        std::hint::spin_loop();
    }
    mill.starved.fetch_or(!mill.ticked.load(SeqCst), SeqCst);
    mill.live.fetch_sub(1, SeqCst);
    format!("flour {stone}")
}

/// Grinds eight times on the runtime's two workers; gives the peak.
async fn peak(max_parallel: u32, together: usize) -> usize {
    let grinds = (1..=8).map(|stone| ToolCall::new("", "grind", json!({ "stone": stone })));
    let model = ScriptedModel::new().calls(grinds).text("done");
    let mut harness: AgentHarness<Mill> = AgentHarness::new();
    harness.register_model("default", model).unwrap().register_tool(Grind).unwrap();
    harness.with_bounds(ExecutorBounds { max_parallel, ..ExecutorBounds::default() }).unwrap();
    let mill = Arc::new(Mill { together, ..Mill::default() });
    let seen = Arc::clone(&mill);
    let timer = tokio::spawn(async move {
        let mut interval = tokio::time::interval(Duration::from_millis(1));
        while seen.begun.load(SeqCst) < seen.together {
            interval.tick().await;
        }
        for _ in 0..3 {
            interval.tick().await;
        }
        seen.ticked.store(true, SeqCst);
    });
    let state = Arc::clone(&mill);
    let run = tokio::spawn(async move { harness.invoke(state, vec![Message::user("go")]).await });
    let run = run.await.unwrap().unwrap();
    timer.await.unwrap();
    let texts: Vec<_> = results(&run.messages).iter().map(|result| result.text()).collect();
    assert_eq!(texts, [1, 2, 3, 4, 5, 6, 7, 8].map(|stone| format!("flour {stone}")));
    assert!(!mill.starved.load(SeqCst), "a task of the runtime was not served while the functions ran");
    let (begun, peak) = (mill.begun.load(SeqCst), mill.peak.load(SeqCst));
    println!("at most {max_parallel} at once on two workers: peak {peak} of {begun}");
    peak
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eight_plain_functions_overlap_on_two_workers_and_starve_nobody() {
    assert_eq!(peak(8, 8).await, 8);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_eight_run_one_after_another_where_one_may_run() {
    assert_eq!(peak(1, 1).await, 1);
}

#[tokio::test]
async fn a_plain_function_runs_on_a_runtime_of_one_thread() {
    let here = std::thread::current().id();
    let tool = plain("thread", ToolPolicy::read_only(), move |_| {
        let own = std::thread::current().id();
        if own == here { "the runtime's".into() } else { "its own".into() }
    });
    let panics = plain("panics", ToolPolicy::read_only(), |_| panic!("on its thread"));
    let mut stage =
        Stage::new(ScriptedModel::new().calls(calls(["thread", "panics", "thread"])).text("done"))
            .tool(tool)
            .tool(panics);
    let run = stage.run().await.unwrap();
    let texts = texts(&run.messages);
    assert_eq!((texts[0].as_str(), texts[2].as_str()), ("its own", "its own"));
    assert_eq!(texts[1], "error: the tool panicked: on its thread; what it had done by then is unknown");
}
