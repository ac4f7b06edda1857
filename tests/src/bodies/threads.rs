//! Threads that cannot be stopped: they are answered for, keep their permits, and nobody waits for them.
//!
//! A runtime does not advance a paused clock while a thread of its pool works, so these tests turn it by hand.

use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use serde_json::json;
use tinyagents::harness::context::{RunConfig, RunContext, RunPolicy};
use tinyagents::harness::event::{AgentEvent, Effects, FailureKind};
use tinyagents::harness::executor::ExecutorBounds;
use tinyagents::harness::policy::{ToolPolicy, ToolRuntimePolicy};
use tinyagents::harness::runtime::{AgentRun, SubAgent};
use tinyagents::harness::tool::Tool;
use tinyagents::prelude::{CancellationToken, Message, RunHandle};
use tinyagents::testkit::ScriptedModel;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::{calls, failures, plain, policy, texts};
use crate::fixture::{Count, Stage, doing};

/// Threads that the test holds: each begins by handing out its token, and ends when `free` or the end of the test
/// lets it.
pub(super) struct Threads {
    gate: Arc<Mutex<mpsc::Receiver<()>>>,
    free: mpsc::Sender<()>,
    begin: tokio::sync::mpsc::UnboundedSender<CancellationToken>,
    begun: UnboundedReceiver<CancellationToken>,
}

impl Threads {
    pub(super) fn new() -> Self {
        let (free, gate) = mpsc::channel();
        let (begin, begun) = unbounded_channel();
        Self { gate: Arc::new(Mutex::new(gate)), free, begin, begun }
    }

    /// A tool whose thread is held, whatever its token says.
    pub(super) fn tool(&self, name: &'static str, policy: ToolPolicy) -> impl Tool<()> + use<> {
        let (gate, begin) = (Arc::clone(&self.gate), self.begin.clone());
        plain(name, policy, move |token| {
            begin.send(token).unwrap();
            let _ = gate.lock().unwrap().recv();
            "free at last".into()
        })
    }

    /// The token of the next thread that begins; its time runs.
    pub(super) async fn next(&mut self) -> CancellationToken {
        let token = self.begun.recv().await.unwrap();
        settle().await;
        token
    }
}

/// A runtime with a clock that stands still, and so many threads for plain functions.
pub(super) fn runtime(threads: usize) -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().start_paused(true).max_blocking_threads(threads).build().unwrap()
}

/// Lets everything happen that can happen now.
pub(super) async fn settle() {
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
}

/// Turns the clock, and lets happen what is due.
pub(super) async fn turn(milliseconds: u64) {
    tokio::time::advance(Duration::from_millis(milliseconds)).await;
    settle().await;
}

/// Ends when a run that waits for nothing in vain would long be over.
async fn patience() {
    let (_waits, given_up) = mpsc::channel::<()>();
    let (over, is_over) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        if let Err(mpsc::RecvTimeoutError::Timeout) = given_up.recv_timeout(Duration::from_secs(20)) {
            let _ = over.send(());
        }
    });
    let _ = is_over.await;
}

/// Runs while `steps` turn the clock. A run that waits in vain then ends with its time.
pub(super) async fn turning<T>(run: impl Future<Output = T>, steps: impl Future<Output = ()>) -> T {
    let steps = async {
        steps.await;
        patience().await;
        loop {
            turn(60_000).await;
        }
    };
    tokio::select! {
        ended = run => ended,
        () = steps => unreachable!("the clock turns for ever"),
    }
}

pub(super) async fn run_with(stage: &mut Stage, steps: impl Future<Output = ()>) -> AgentRun {
    turning(stage.run(), steps).await.unwrap()
}

/// A tool that changes something, and counts.
pub(super) fn write(count: &Count) -> impl Tool<()> + use<> {
    let count = count.clone();
    doing("write", ToolPolicy::classified(), move |_| {
        count.add();
        async { Ok("written".into()) }
    })
}

#[test]
fn g95_a_thread_that_ignores_its_token_is_answered_at_deadline_plus_grace_and_blocks_later_changes_only() {
    runtime(1).block_on(async {
        let (mut threads, wrote) = (Threads::new(), Count::default());
        let free = threads.free.clone();
        // With one thread in the pool, the next work on it begins when the thread has ended and given all back.
        let release = doing("release", ToolPolicy::read_only(), move |_| {
            free.send(()).unwrap();
            async { Ok(tokio::task::spawn_blocking(|| "released".to_string()).await.unwrap()) }
        });
        let look = || tinyagents::prelude::ToolCall::new("l", "look", json!({ "q": "tea" }));
        let mut first = calls(["stuck", "write"]);
        first.push(look());
        let mut second = calls(["agent", "write"]);
        second[0].arguments = json!({ "task": "write" }).into();
        second.push(look());
        let model = ScriptedModel::new().calls(first).calls(second);
        let model = model.call("release", json!({})).call("write", json!({})).text("done");
        let mut stage = Stage::new(model).tool(threads.tool("stuck", policy(false, 2_000)));
        stage.harness.register_tool(write(&wrote)).unwrap().register_tool(release).unwrap();
        let agent = SubAgent::new("agent", "Writes.").with_model("inner").into_tool();
        stage.harness.register_tool(agent).unwrap();
        let inner = ScriptedModel::new().call("write", json!({})).text("the writer is busy");
        stage.harness.register_model("inner", inner).unwrap();
        let events = stage.events.clone();
        let settled = move || events.records().iter().filter(|record| record.event.is_terminal()).count();
        let over = Arc::new(Mutex::new(None));
        let noted = Arc::clone(&over);
        stage.harness.with_listener(move |record: &tinyagents::prelude::EventRecord| {
            if record.event.kind() == "run.completed" {
                *noted.lock().unwrap() = Some(tokio::time::Instant::now());
            }
        });
        let start = tokio::time::Instant::now();
        let run = run_with(&mut stage, async {
            let token = threads.next().await;
            turn(1_999).await;
            assert!(!token.is_cancelled(), "its time is not over");
            turn(1).await;
            assert!(token.is_cancelled(), "its time is over");
            turn(4_999).await;
            assert_eq!(settled(), 0, "its grace is not over");
            turn(1).await;
            assert!(settled() > 0, "its grace is over");
        })
        .await;
        let texts = texts(&run.messages);
        assert_eq!(
            texts[0],
            "error: the tool timed out after 2s; it cannot be stopped and still runs, so what it does is unknown"
        );
        assert!(texts[1].contains("was given up on and still runs; nothing else can change anything"));
        assert_eq!(texts[1], texts[4]);
        assert_eq!([&*texts[2], &*texts[3], &*texts[5]], ["found tea", "the writer is busy", "found tea"]);
        assert_eq!([&*texts[6], &*texts[7]], ["released", "written"]);
        let busy = (FailureKind::WriterBusy, Effects::None);
        assert_eq!(failures(&stage), [(FailureKind::Abandoned, Effects::Unknown), busy, busy, busy]);
        assert_eq!((wrote.get(), stage.looked.get()), (1, 2));
        let took = over.lock().unwrap().unwrap().saturating_duration_since(start);
        assert_eq!(took, Duration::from_secs(7), "nothing waited for the thread");
    });
}

#[test]
fn readers_that_were_given_up_on_take_all_room_and_nobody_waits_for_it() {
    runtime(8).block_on(async {
        let (mut threads, wrote) = (Threads::new(), Count::default());
        let mut first = calls(["stuck", "stuck", "look"]);
        first[2].arguments = json!({ "q": "tea" }).into();
        let mut second = calls(["look", "write"]);
        second[0].arguments = json!({ "q": "tea" }).into();
        let model = ScriptedModel::new().calls(first).calls(second).text("done");
        let mut stage =
            Stage::new(model).tool(threads.tool("stuck", policy(true, 2_000))).tool(write(&wrote));
        stage.harness.with_bounds(ExecutorBounds { max_bodies: 2, ..Default::default() }).unwrap();
        let run = run_with(&mut stage, async {
            threads.next().await;
            threads.next().await;
            turn(2_000).await;
            turn(5_000).await;
        })
        .await;
        let (abandoned, full) =
            ((FailureKind::Abandoned, Effects::Unknown), (FailureKind::NoCapacity, Effects::None));
        assert_eq!(failures(&stage), [abandoned, abandoned, full, full, full], "also the one that waited");
        let room =
            "error: not executed: calls that were given up on and still run have taken all room for it";
        assert_eq!(texts(&run.messages)[2..], [room; 3]);
        assert_eq!((wrote.get(), stage.looked.get()), (0, 0));
    });
}

#[test]
fn a_tool_whose_own_room_is_taken_for_good_fails_at_once_and_others_run() {
    runtime(8).block_on(async {
        let (mut threads, wrote) = (Threads::new(), Count::default());
        let mut one = policy(true, 2_000);
        one.runtime = ToolRuntimePolicy { max_concurrency: Some(1), ..one.runtime };
        let model = ScriptedModel::new().calls(calls(["stuck", "stuck"])).calls(calls(["stuck", "write"]));
        let mut stage = Stage::new(model.text("done")).tool(threads.tool("stuck", one)).tool(write(&wrote));
        let run = run_with(&mut stage, async {
            threads.next().await;
            turn(2_000).await;
            turn(5_000).await;
        })
        .await;
        let (abandoned, full) =
            ((FailureKind::Abandoned, Effects::Unknown), (FailureKind::NoCapacity, Effects::None));
        assert_eq!(failures(&stage), [abandoned, full, full]);
        assert_eq!((texts(&run.messages)[3].as_str(), wrote.get()), ("written", 1));
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_that_never_awaits_is_answered_for_as_a_thread_is() {
    let ((free, gate), wrote) = (mpsc::channel::<()>(), Count::default());
    let gate = Arc::new(Mutex::new(gate));
    let stuck = doing("stuck", policy(false, 10), move |_| {
        let gate = Arc::clone(&gate);
        async move {
            tokio::task::yield_now().await; // from here on it has a task of its own
            let _ = gate.lock().unwrap().recv_timeout(Duration::from_secs(20));
            Ok("free at last".into())
        }
    });
    let model = ScriptedModel::new().calls(calls(["stuck", "write"])).text("done");
    let policy = RunPolicy { grace: Duration::from_millis(10), ..RunPolicy::recovering() };
    let mut stage = Stage::new(model).policy(policy).tool(stuck).tool(write(&wrote));
    let run = stage.run().await.unwrap();
    free.send(()).unwrap();
    assert!(texts(&run.messages)[0].contains("it cannot be stopped and still runs"));
    assert_eq!(
        failures(&stage),
        [(FailureKind::Abandoned, Effects::Unknown), (FailureKind::WriterBusy, Effects::None)]
    );
    assert_eq!(wrote.get(), 0);
}

#[test]
fn a_thread_is_told_when_its_run_is_dropped() {
    runtime(8).block_on(async {
        let mut threads = Threads::new();
        let stage = Stage::new(ScriptedModel::new().call("stuck", json!({})))
            .tool(threads.tool("stuck", policy(true, 0)));
        let ctx = RunContext::new(RunConfig::default(), ());
        let handle = ctx.handle();
        let token = tokio::select! {
            run = stage.harness.invoke_in_context(&(), ctx, vec![Message::user("go")]) => panic!("{run:?}"),
            token = threads.next() => token,
        };
        assert!(token.is_cancelled());
        let transcript = handle.transcript();
        let unknown = "error: interrupted: the call had started, and what it had done by then is unknown";
        assert_eq!(texts(&transcript), [unknown]);
        stage.events.assert_settled();
    });
}

/// Runs one call of a plain function, with a second for it, while the only thread is taken. `steps` get what frees it.
async fn queued(
    threads: &mut Threads,
    steps: impl AsyncFnOnce(&mut Threads, mpsc::Sender<()>, &Stage, RunHandle),
) -> (Stage, AgentRun) {
    let (free, taken) = mpsc::channel::<()>();
    let occupied = tokio::task::spawn_blocking(move || taken.recv());
    let tool = threads.tool("act", policy(false, 1_000));
    let stage = Stage::new(ScriptedModel::new().call("act", json!({})).text("done")).tool(tool);
    let ctx = RunContext::new(RunConfig::default(), ());
    let handle = ctx.handle();
    let steps = async {
        settle().await;
        assert!(stage.events.kinds().contains(&"tool.started"));
        steps(threads, free, &stage, handle).await;
    };
    let run = stage.harness.invoke_in_context(&(), ctx, vec![Message::user("go")]);
    let run = turning(run, steps).await.unwrap();
    let _ = occupied.await.unwrap();
    stage.events.assert_settled();
    (stage, run)
}

#[test]
fn a_timeout_begins_when_there_is_a_thread_for_the_body() {
    runtime(1).block_on(async {
        let steps = async |threads: &mut Threads, free: mpsc::Sender<()>, stage: &Stage, _| {
            turn(60_000).await;
            assert!(!stage.events.kinds().contains(&"tool.failed"));
            free.send(()).unwrap();
            let token = threads.next().await;
            turn(999).await;
            assert!(!token.is_cancelled());
            threads.free.send(()).unwrap();
        };
        let (_, run) = queued(&mut Threads::new(), steps).await;
        assert_eq!(texts(&run.messages), ["free at last"]);
    });
}

#[test]
fn a_body_without_a_thread_is_withdrawn_by_a_cancel_and_never_begins() {
    runtime(1).block_on(async {
        let mut threads = Threads::new();
        let start = tokio::time::Instant::now();
        let steps = async |_: &mut Threads, free: mpsc::Sender<()>, _: &Stage, handle: RunHandle| {
            handle.cancel();
            settle().await;
            drop(free);
        };
        let (stage, run) = queued(&mut threads, steps).await;
        assert_eq!(
            texts(&run.messages),
            ["error: not executed: the run was cancelled before there was a thread for the call"]
        );
        assert_eq!(failures(&stage), [(FailureKind::Cancelled, Effects::None)]);
        assert_eq!(start.elapsed(), Duration::ZERO, "at once");
        // The thread is free: whatever was left in its queue is taken from it before this.
        tokio::task::spawn_blocking(|| ()).await.unwrap();
        assert!(threads.begun.try_recv().is_err(), "it never begins");
    });
}

#[test]
fn a_cooperative_thread_ends_by_itself() {
    runtime(1).block_on(async {
        let (begin, mut begun) = unbounded_channel();
        let tool = plain("act", policy(false, 2_000), move |token| {
            begin.send(()).unwrap();
            while !token.is_cancelled() {
                std::thread::yield_now();
            }
            "stopped".into()
        });
        let mut stage = Stage::new(ScriptedModel::new().call("act", json!({})).text("done")).tool(tool);
        run_with(&mut stage, async {
            begun.recv().await.unwrap();
            settle().await;
            turn(2_000).await;
        })
        .await;
        let (failure, elapsed) = stage.events.find(|event| match event {
            AgentEvent::ToolFailed { failure, effects, elapsed, .. } => {
                Some(((*failure, *effects), *elapsed))
            }
            _ => None,
        })[0];
        assert_eq!(failure, (FailureKind::TimedOut, Effects::Done), "after {elapsed:?}");
    });
}
