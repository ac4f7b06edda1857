//! Random trees of runs, in which everything that may overlap has random times: they end, within every bound.

mod watch;

use std::time::Duration;

use tinyagents::harness::context::{RunConfig, RunLimits};
use tinyagents::harness::executor::ExecutorBounds;
use tinyagents::harness::message::{AssistantMessage, ToolCall};
use tinyagents::harness::policy::ToolPolicy;
use tinyagents::harness::runtime::RunFinish;
use tinyagents::prelude::{ChildRuns, Message, Resource, RunContext, ToolError, json, tool};

use super::{explorer, worker};
use crate::fixture::assert_whole;
use crate::probes::{Dice, Scene, TaskModel, at_most};
use watch::{Kind, Watch};

const TREES: u64 = 300;
const DEEPEST: u32 = 3;

/// Ask an agent, and take care that no other call of this depth does.
#[tool(recursive, concurrency = 1)]
async fn careful(
    task: String,
    #[inject] runs: ChildRuns,
    #[inject] ctx: &RunContext,
    #[inject] watch: Resource<Watch>,
) -> Result<String, ToolError> {
    let _one = watch.careful(ctx.config().depth);
    let run = runs.run(&worker(), vec![Message::user(task)]).await?;
    watch.transcript(&run.messages);
    Ok(run.answer().unwrap_or_else(|| run.finish.to_string()))
}

/// What is expected of a tree.
#[derive(Default)]
struct Expected {
    runs: u32,
    bodies: u32,
    deepest: u32,
}

/// A tree as it grows.
struct Tree {
    dice: Dice,
    model: TaskModel,
    expected: Expected,
}

impl Tree {
    fn random(seed: u64) -> Self {
        let model = TaskModel::default().taking(Duration::from_millis(2));
        let mut tree = Self { dice: Dice::new(seed), model, expected: Expected::default() };
        tree.grow("go", 0, false);
        tree
    }

    /// The script of a run, and of all within it.
    fn grow(&mut self, task: &str, depth: u32, reads_only: bool) {
        self.expected.runs += 1;
        self.expected.deepest = self.expected.deepest.max(depth);
        let turns = 1 + self.dice.roll(2);
        let turns: Vec<_> = (0..turns).map(|turn| self.turn(task, turn, depth, reads_only)).collect();
        self.model = std::mem::take(&mut self.model).on(task, turns);
    }

    fn turn(&mut self, task: &str, turn: u64, depth: u32, reads_only: bool) -> AssistantMessage {
        let names: &[&str] = match (reads_only, depth < DEEPEST) {
            (false, true) => {
                &["read", "few", "change", "promoted", "work", "work", "explore", "careful", "nope"]
            }
            (false, false) => &["read", "few", "change", "promoted", "nope"],
            (true, true) => &["read", "few", "explore", "change"],
            (true, false) => &["read", "few", "change"],
        };
        let calls: Vec<_> = (0..1 + self.dice.roll(3))
            .map(|call| {
                let (name, id) = (*self.dice.pick(names), format!("{task}.{turn}{call}"));
                match name {
                    "work" | "careful" => self.grow(&id, depth + 1, reads_only),
                    "explore" => self.grow(&id, depth + 1, true),
                    "change" if reads_only => {} // it is not shown there, and does not run
                    "nope" => {}
                    _ => self.expected.bodies += 1,
                }
                match name {
                    "work" | "careful" | "explore" => ToolCall::new(id.as_str(), name, json!({ "task": id })),
                    _ => ToolCall::new(id.as_str(), name, json!({ "ms": self.dice.roll(30) })),
                }
            })
            .collect();
        AssistantMessage::calls(calls)
    }

    fn scene(&self, bounds: ExecutorBounds) -> (Scene, Watch) {
        let watch = Watch::new(bounds.clone());
        let mut scene = Scene::new(self.model.clone())
            .tool(watch.tool("read", Kind::Read, ToolPolicy::read_only()))
            .tool(watch.tool("few", Kind::Few, at_most(1, ToolPolicy::read_only())))
            .tool(watch.tool("change", Kind::Change, ToolPolicy::classified()))
            .tool(watch.tool("promoted", Kind::Promoted, ToolPolicy::classified()))
            .tool(Careful)
            .agent(worker())
            .agent(explorer())
            .bounds(bounds)
            .limits(RunLimits { max_model_calls: 100_000, max_tool_calls: 100_000, ..RunLimits::default() });
        scene.harness.promote("promoted").unwrap();
        scene.harness.with_resource(watch.clone()).with_listener(watch.listener());
        (scene, watch)
    }
}

/// All bounds at one, all at two, and any mixture of the two.
fn bounds(dice: &mut Dice) -> [ExecutorBounds; 3] {
    let of = |mut bound: Box<dyn FnMut() -> u32 + '_>| ExecutorBounds {
        max_parallel: bound(),
        max_concurrent_mutations: bound(),
        max_bodies: bound(),
        max_runs_per_depth: bound(),
        max_model_requests: bound(),
    };
    [of(Box::new(|| 1)), of(Box::new(|| 2)), of(Box::new(|| 1 + dice.roll(2) as u32))]
}

#[tokio::test(start_paused = true)]
async fn random_trees_end_within_every_bound() {
    let (mut runs, mut deepest, mut peak_bodies) = (0, 0, 0);
    let mut peak_runs = [0; DEEPEST as usize];
    for seed in 0..TREES {
        let tree = Tree::random(seed);
        for bounds in bounds(&mut Dice::new(seed)) {
            let (scene, watch) = tree.scene(bounds.clone());
            println!("seed {seed}, {bounds:?}"); // shown if anything below fails
            let run = scene.run().await.unwrap();
            assert_eq!(run.answer().as_deref(), Some("go answered"));
            let seen = watch.end();
            assert_eq!((seen.runs, seen.bodies), (tree.expected.runs, tree.expected.bodies));
            let requests = scene.model.probe.take_peak();
            assert!(requests <= bounds.max_model_requests, "{requests} requests at once");
            runs += seen.runs;
            peak_bodies = peak_bodies.max(seen.peak_bodies);
            for (peak, seen) in peak_runs.iter_mut().zip(&seen.peak_runs[1..]) {
                *peak = (*peak).max(*seen);
            }
        }
        deepest = deepest.max(tree.expected.deepest);
    }
    println!(
        "trees: {TREES} trees, {runs} runs, deepest {deepest}, peak bodies {peak_bodies}, peak runs per depth \
         {peak_runs:?}"
    );
    assert_eq!((deepest, peak_bodies, peak_runs), (3, 2, [2; 3]), "the bounds are reached");
}

#[tokio::test(start_paused = true)]
async fn random_trees_that_are_cancelled_end_whole() {
    let mut cancelled = 0;
    for seed in 0..TREES {
        let tree = Tree::random(seed);
        let mut dice = Dice::new(seed);
        let bounds = bounds(&mut dice)[2].clone();
        let (scene, watch) = tree.scene(bounds);
        let ctx = scene.harness.context(RunConfig::default(), ());
        let handle = ctx.handle();
        let after = Duration::from_millis(dice.roll(200));
        println!("seed {seed}, cancelled after {after:?}");
        let cancel = tokio::spawn(async move {
            tokio::time::sleep(after).await;
            handle.cancel();
        });
        let run = scene.run_in(ctx).await.unwrap();
        cancel.abort();
        assert_whole(&run.messages);
        cancelled += u32::from(run.finish == RunFinish::Cancelled);
        watch.end();
    }
    assert!(cancelled > 100, "only {cancelled} of them were cancelled in time");
}

#[tokio::test(start_paused = true)]
async fn the_watch_sees_what_it_is_to_see() {
    // A tool that says it reads and does not is what no executor can know; the watch does.
    let watch = Watch::new(ExecutorBounds { max_bodies: 1, ..ExecutorBounds::default() });
    let lies = watch.tool("lies", Kind::Change, ToolPolicy::read_only());
    let calls = ["a", "b"].map(|id| ToolCall::new(id, "lies", json!({ "ms": 5 })));
    let mut scene = Scene::new(TaskModel::default().on("go", [AssistantMessage::calls(calls)])).tool(lies);
    scene.harness.with_listener(watch.listener());
    scene.run().await.unwrap();
    let broken = watch.broken();
    for part in ["2 bodies", "2 changes", "1 calls beside a change"] {
        assert!(broken.iter().any(|broken| broken.contains(part)), "{part}: {broken:?}");
    }
}
