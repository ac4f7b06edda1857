//! What bounds a tree of runs: permits are shared by all of it, and never wait for each other in a circle.

use tinyagents::harness::executor::ExecutorBounds;
use tinyagents::harness::policy::ToolPolicy;

use super::{asks, explorer, worker};
use crate::probes::{Scene, TaskModel, ask, at_most, calls, seen};

const ONES: ExecutorBounds = ExecutorBounds {
    max_parallel: 1,
    max_concurrent_mutations: 1,
    max_bodies: 1,
    max_runs_per_depth: 1,
    max_model_requests: 1,
};

/// The most nested runs that lived at once.
fn peak_of_runs(scene: &Scene) -> u32 {
    let (mut now, mut peak) = (0_u32, 0);
    for record in scene.events.records().iter().filter(|record| record.parent_run_id.is_some()) {
        match record.event.kind() {
            "run.started" => now += 1,
            "run.completed" | "run.failed" => now -= 1,
            _ => {}
        }
        peak = peak.max(now);
    }
    assert_eq!(now, 0, "every run ended");
    peak
}

#[tokio::test(start_paused = true)]
async fn t7_agents_with_a_change_each_end_with_every_bound_at_one() {
    let model = TaskModel::default()
        .on("go", [asks("work", &["one", "two"])])
        .on("one", [calls("act:a"), asks("work", &["three"])])
        .on("two", [calls("act:b")])
        .on("three", [calls("act:c")]);
    let scene = Scene::new(model.clone()).agent(worker()).bounds(ONES);
    scene.run().await.unwrap();
    assert_eq!((scene.probe.log().as_str(), peak_of_runs(&scene)), ("+a -a +c -c +b -b", 2));
    // As many side by side as there are, and still one change at a time in the tree.
    let scene = Scene::new(model).agent(worker());
    scene.run().await.unwrap();
    assert_eq!((scene.probe.log().as_str(), peak_of_runs(&scene)), ("+a -a +b -b +c -c", 3));
}

/// A run that starts two, of which each starts two.
async fn fan_out(most: u32) -> u32 {
    let model = TaskModel::default()
        .on("go", [asks("work", &["one", "two"])])
        .on("one", [asks("work", &["three", "four"])])
        .on("two", [asks("work", &["five", "six"])])
        .on("three", [calls("look:a")])
        .on("four", [calls("look:b")])
        .on("five", [calls("look:c")])
        .on("six", [calls("look:d")]);
    let bounds = ExecutorBounds { max_runs_per_depth: most, ..ExecutorBounds::default() };
    let scene = Scene::new(model).agent(worker()).bounds(bounds);
    let run = scene.run().await.unwrap();
    assert_eq!(super::answers(&run.messages), ["one answered", "two answered"]);
    peak_of_runs(&scene)
}

#[tokio::test(start_paused = true)]
async fn t8_each_depth_has_one_pool_for_the_whole_tree() {
    assert_eq!(fan_out(2).await, 4, "two of each depth, and not two for each run");
    assert_eq!((fan_out(1).await, fan_out(4).await), (2, 6));
}

/// Calls of one tool by the outermost run and by the two agents beside it.
async fn leaves(limit: Option<u32>) -> (String, u32) {
    let mut first = calls("leaf:a leaf:b");
    first.tool_calls.extend([ask("explore", "one"), ask("explore", "two")]);
    let model = TaskModel::default()
        .on("go", [first])
        .on("one", [calls("leaf:c leaf:d")])
        .on("two", [calls("leaf:e")]);
    let scene = Scene::new(model).agent(explorer());
    let policy = ToolPolicy::read_only();
    let leaf = seen(&scene.probe, "leaf", limit.map_or(policy.clone(), |limit| at_most(limit, policy)));
    let scene = scene.tool(leaf);
    scene.run().await.unwrap();
    (scene.probe.log(), scene.probe.peak())
}

#[tokio::test(start_paused = true)]
async fn t9_a_tools_own_bound_holds_across_depths() {
    assert_eq!(leaves(None).await.1, 5);
    assert_eq!(leaves(Some(2)).await.1, 2);
    let (log, peak) = leaves(Some(1)).await;
    assert_eq!((peak, log.matches('+').count()), (1, 5), "{log}");
}

#[tokio::test(start_paused = true)]
async fn bodies_are_bounded_across_the_tree() {
    for most in [1, 3, 16] {
        let model = TaskModel::default()
            .on("go", [asks("explore", &["one", "two", "three"])])
            .on("one", [calls("look:a look:b look:c")])
            .on("two", [calls("look:d look:e look:f")])
            .on("three", [calls("look:g look:h look:i")]);
        let bounds = ExecutorBounds { max_bodies: most, ..ExecutorBounds::default() };
        let scene = Scene::new(model).agent(explorer()).bounds(bounds);
        scene.run().await.unwrap();
        assert_eq!(scene.probe.peak(), most.min(9));
    }
}

#[tokio::test(start_paused = true)]
async fn t10_agents_side_by_side_are_bounded_like_promoted_calls() {
    for most in 1..=4 {
        let model = TaskModel::default().on("go", [asks("work", &["a", "b", "c"])]);
        let model =
            ["a", "b", "c"].iter().fold(model, |model, id| model.on(id, [calls(&format!("tag:{id}"))]));
        let bounds = ExecutorBounds { max_concurrent_mutations: most, ..ExecutorBounds::default() };
        let scene = Scene::new(model).agent(worker()).bounds(bounds);
        scene.run().await.unwrap();
        assert_eq!((peak_of_runs(&scene), scene.probe.peak()), (most.min(3), most.min(3)));
    }
}

/// What the probe sees of `[look, AGENT, look]` where the agent reads as well.
async fn between_two_reads(agent: tinyagents::harness::runtime::SubAgent) -> String {
    let mut turn = calls("look:a");
    turn.tool_calls.extend(asks("it", &["one"]).tool_calls);
    turn.tool_calls.extend(calls("look:c").tool_calls);
    let model = TaskModel::default().on("go", [turn]).on("one", [calls("look:b")]);
    let scene = Scene::new(model).agent(agent);
    scene.run().await.unwrap();
    scene.probe.log()
}

#[tokio::test(start_paused = true)]
async fn t13_an_agent_that_only_reads_stands_in_one_group_with_calls_that_read() {
    let agent = || tinyagents::harness::runtime::SubAgent::new("it", "Does a task.");
    assert_eq!(between_two_reads(agent().reads_only()).await, "+a +b +c -a -b -c");
    assert_eq!(between_two_reads(agent()).await, "+a -a +b -b +c -c");
}
