//! In which order calls start, and in which order their results stand.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tinyagents::harness::context::{RunLimits, RunPolicy};
use tinyagents::harness::message::{AssistantMessage, Message, ToolCall};
use tinyagents::harness::middleware::{Middleware, ToolGate};
use tinyagents::harness::model::{DeltaSink, Model, ModelError, ModelReply, ModelRequest};
use tinyagents::harness::policy::{Approval, ApprovalRequest, Approver, ToolAccess, ToolPolicy};
use tinyagents::harness::runtime::AgentHarness;
use tinyagents::harness::tool::ToolError;
use tinyagents::prelude::RunContext;

use crate::fixture::{doing, results};
use crate::probes::{Scene, TaskModel, call, call_for, seen};

const ROUNDS: u32 = 3_000;

/// Makes the same calls in every turn, `ROUNDS` times.
struct Again(Vec<ToolCall>, AtomicU32);

#[tinyagents::async_trait]
impl Model for Again {
    fn name(&self) -> &str {
        "again"
    }

    fn provider(&self) -> &str {
        "again"
    }

    async fn generate(&self, _: &ModelRequest, _: &DeltaSink<'_>) -> Result<ModelReply, ModelError> {
        let round = self.1.fetch_add(1, Ordering::SeqCst);
        let calls = if round < ROUNDS { self.0.clone() } else { Vec::new() };
        Ok(AssistantMessage::text("").with_calls(calls).into())
    }
}

/// Runs `ROUNDS` turns of the same calls on two threads.
async fn rounds(mut harness: AgentHarness<()>, calls: &[ToolCall]) {
    harness.register_model("default", Again(calls.to_vec(), AtomicU32::new(0))).unwrap();
    let limits = RunLimits {
        max_model_calls: u32::MAX,
        max_tool_calls: u32::MAX,
        repeat_notice: u32::MAX,
        max_repeats: u32::MAX,
        ..RunLimits::default()
    };
    harness.with_policy(RunPolicy { limits, ..RunPolicy::default() });
    // From a task of a worker's own, where a task that is spawned may be run by the other worker at once.
    let run = tokio::spawn(async move { harness.invoke(&(), vec![Message::user("go")]).await });
    let run = tokio::time::timeout(Duration::from_secs(60), run).await.expect("the run should end");
    let run = run.unwrap().unwrap();
    let failed = results(&run.messages).into_iter().find(|result| result.is_error);
    assert_eq!(failed.map(|result| result.text()), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_reads_never_sees_the_world_before_an_earlier_change() {
    let world = Arc::new(AtomicU32::new(0));
    let mut harness = AgentHarness::new();
    let shared = Arc::clone(&world);
    let write = doing("write", ToolPolicy::classified(), move |_| {
        let world = Arc::clone(&shared);
        async move {
            let before = world.load(Ordering::SeqCst);
            tokio::task::yield_now().await;
            world.store(before + 1, Ordering::SeqCst);
            Ok(String::new())
        }
    });
    let shared = Arc::clone(&world);
    // Each turn changes the world twice, so it is even whenever a call reads.
    let read = doing("read", ToolPolicy::read_only(), move |_| {
        let world = Arc::clone(&shared);
        async move {
            let before = world.load(Ordering::SeqCst);
            tokio::task::yield_now().await;
            match (before % 2, world.load(Ordering::SeqCst) == before) {
                (0, true) => Ok(String::new()),
                _ => Err(ToolError::fatal(format!("the world was {before} while a call read"))),
            }
        }
    });
    harness.register_tool(write).unwrap().register_tool(read).unwrap();
    let turn = [call("write", "a"), call("write", "b"), call("read", "c"), call("read", "d")];
    rounds(harness, &turn).await;
    assert_eq!(world.load(Ordering::SeqCst), 2 * ROUNDS);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_that_may_overlap_start_in_call_order() {
    let starts = Arc::new(Mutex::new(Vec::new()));
    let mut harness = AgentHarness::new();
    for name in ["tag", "look"] {
        let starts = Arc::clone(&starts);
        let policy = if name == "look" { ToolPolicy::read_only() } else { ToolPolicy::classified() };
        let tool = doing(name, policy, move |call| {
            let starts = Arc::clone(&starts);
            async move {
                // The ids of later turns are told apart from those of earlier ones by what follows the letter.
                starts.lock().unwrap().push(call.call_id.as_str().chars().next().unwrap());
                tokio::task::yield_now().await;
                Ok(String::new())
            }
        });
        harness.register_tool(tool).unwrap();
    }
    harness.promote("tag").unwrap();
    let ids = ["a", "b", "c", "d", "e", "f"];
    let turn: Vec<_> = ids[..3].iter().map(|id| call("tag", id)).collect();
    let turn: Vec<_> = turn.into_iter().chain(ids[3..].iter().map(|id| call("look", id))).collect();
    rounds(harness, &turn).await;
    let starts = starts.lock().unwrap();
    assert_eq!(starts.len(), 6 * ROUNDS as usize);
    for (round, started) in starts.chunks(6).enumerate() {
        assert_eq!(started, ['a', 'b', 'c', 'd', 'e', 'f'], "round {round}");
    }
}

/// All orders of these.
fn orders(of: &[u64]) -> Vec<Vec<u64>> {
    if of.is_empty() {
        return vec![Vec::new()];
    }
    let each = (0..of.len()).flat_map(|at| {
        let mut rest = of.to_vec();
        let first = rest.remove(at);
        orders(&rest).into_iter().map(move |order| [vec![first], order].concat())
    });
    each.collect()
}

#[tokio::test(start_paused = true)]
async fn h76_results_stand_in_call_order_in_whatever_order_they_come() {
    let ids = ["a", "b", "c", "d", "e"];
    let mut bytes = Vec::new();
    for order in orders(&[10, 20, 30, 40, 50]) {
        let turn = ids.map(|id| call("wait", id));
        let scene = Scene::new(TaskModel::default().on("go", [AssistantMessage::calls(turn)]));
        let (times, probe) = (order.clone(), scene.probe.clone());
        let wait = doing("wait", ToolPolicy::read_only(), move |call| {
            let within = probe.enter(&call.call_id);
            let place = ids.iter().position(|id| call.call_id == *id).unwrap();
            let time = Duration::from_millis(times[place]);
            async move {
                tokio::time::sleep(time).await;
                drop(within);
                Ok(format!("{} done", call.call_id))
            }
        });
        let scene = scene.tool(wait);
        let run = scene.run().await.unwrap();
        let mut ended: Vec<_> = ids.iter().zip(&order).collect();
        ended.sort_by_key(|(_, ms)| **ms);
        let ended: Vec<_> = ended.iter().map(|(id, _)| format!("-{id}")).collect();
        assert!(scene.probe.log().ends_with(&ended.join(" ")), "they end in the order of their times");
        bytes.push(serde_json::to_string(&run.messages).unwrap());
    }
    assert_eq!(bytes.len(), 120);
    assert!(bytes.iter().all(|other| *other == bytes[0]), "and the transcripts are the same bytes");
    let places = ids.map(|id| bytes[0].find(&format!("{id} done")).expect("a result of each"));
    assert!(places.is_sorted(), "in call order");
}

/// Refuses calls of `tag`, at once.
struct NoTags;

#[tinyagents::async_trait]
impl Middleware<()> for NoTags {
    async fn before_tool(
        &self,
        _: &RunContext<()>,
        _: &(),
        call: &mut ToolCall,
    ) -> tinyagents::Result<ToolGate> {
        Ok(if call.name == "tag" { ToolGate::reject("no tags") } else { ToolGate::Proceed })
    }
}

/// The ids of the results and what stands in them, of a slow call and one after it.
async fn slow_and(then: ToolCall, scene: impl FnOnce(Scene) -> Scene) -> Vec<(String, String)> {
    let turn = AssistantMessage::calls([call_for(1_000, "look", "slow"), then]);
    let scene = scene(Scene::new(TaskModel::default().on("go", [turn])));
    let run = scene.run().await.unwrap();
    results(&run.messages).iter().map(|result| (result.tool_call_id.to_string(), result.text())).collect()
}

#[tokio::test(start_paused = true)]
async fn h77_a_call_that_is_blocked_does_not_stand_before_a_slow_one() {
    let results = slow_and(call("tag", "blocked"), |mut scene| {
        scene.harness.with_middleware(NoTags);
        scene
    });
    let results = results.await;
    assert_eq!(results[0], ("slow".into(), "slow done".into()));
    assert_eq!(
        results[1],
        ("blocked".into(), "error: denied, and not executed: no tags".into()),
        "the call that was blocked before the slow one began"
    );
}

/// Says no.
struct No;

#[tinyagents::async_trait]
impl Approver for No {
    async fn ask(&self, _: ApprovalRequest) -> Approval {
        Approval::deny("no")
    }
}

#[tokio::test(start_paused = true)]
async fn h78_a_refusal_does_not_stand_before_a_slow_call() {
    let results = slow_and(call("peek", "refused"), |mut scene| {
        let access = ToolAccess { approval_required: true, ..Default::default() };
        let peek = seen(&scene.probe, "peek", ToolPolicy::read_only().with_access(access));
        scene.harness.with_approver(No);
        scene.tool(peek)
    });
    let results = results.await;
    assert_eq!(results[0], ("slow".into(), "slow done".into()));
    assert_eq!(results[1], ("refused".into(), "error: denied, and not executed: no".into()));
}
