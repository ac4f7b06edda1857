//! How much runs at once: every bound is kept, and reached where there is enough to do.

use std::time::Duration;

use tinyagents::TinyAgentsError;
use tinyagents::harness::context::RunConfig;
use tinyagents::harness::executor::{ExecutorBounds, ZeroBound};
use tinyagents::harness::message::Message;
use tinyagents::harness::policy::ToolPolicy;
use tinyagents::harness::runtime::{AgentHarness, SubAgent};
use tinyagents::harness::tool::RegistryError;

use super::any;
use crate::probes::{Probe, Scene, TOO_LONG, TaskModel, ask, at_most, call_for, calls, seen};

/// The peak of six calls of one tool.
async fn peak_of_six(name: &str, bounds: ExecutorBounds) -> u32 {
    let words: Vec<_> = ('a'..='f').map(|id| format!("{name}:{id}")).collect();
    let scene = Scene::new(TaskModel::default().on("go", [calls(&words.join(" "))])).bounds(bounds);
    scene.run().await.unwrap();
    scene.probe.peak()
}

#[tokio::test(start_paused = true)]
async fn calls_side_by_side_are_bounded_and_reach_the_bound() {
    for most in 1..=8 {
        let bounds = ExecutorBounds { max_parallel: most, max_concurrent_mutations: 100, ..any() };
        assert_eq!(peak_of_six("look", bounds.clone()).await, most.min(6));
        assert_eq!(peak_of_six("tag", bounds.clone()).await, most.min(6));
        assert_eq!(peak_of_six("act", bounds).await, 1);
    }
}

#[tokio::test(start_paused = true)]
async fn t10_promoted_calls_are_bounded_by_a_number_of_their_own_and_reach_it() {
    assert_eq!(peak_of_six("tag", any()).await, 4, "the default");
    for most in 1..=8 {
        let bounds = ExecutorBounds { max_concurrent_mutations: most, ..any() };
        assert_eq!(peak_of_six("tag", bounds.clone()).await, most.min(6));
        assert_eq!(peak_of_six("look", bounds).await, 6, "those that read do not count");
    }
}

#[tokio::test(start_paused = true)]
async fn bodies_are_bounded() {
    for most in [1, 2, 5, 16] {
        let bounds = ExecutorBounds { max_bodies: most, ..any() };
        assert_eq!(peak_of_six("look", bounds.clone()).await, most.min(6));
        assert_eq!(peak_of_six("tag", bounds).await, most.min(4));
    }
}

#[tokio::test(start_paused = true)]
async fn a_tools_own_bound_holds_for_its_calls_only() {
    async fn log(limit: Option<u32>) -> String {
        let mut turn = calls("few:a few:b few:c look:d");
        turn.tool_calls[0] = call_for(5, "few", "a");
        let model = TaskModel::default().on("go", [turn]);
        let scene = Scene::new(model);
        let policy = ToolPolicy::read_only();
        let policy = limit.map_or(policy.clone(), |limit| at_most(limit, policy));
        let few = seen(&scene.probe, "few", policy);
        let scene = scene.tool(few);
        scene.run().await.unwrap();
        scene.probe.log()
    }
    assert_eq!(log(None).await, "+a +b +c +d -a -b -c -d");
    // `d` needs nothing that is not free, and stands in line behind `c` all the same.
    assert_eq!(log(Some(2)).await, "+a +b -a +c +d -b -c -d");
    assert_eq!(log(Some(1)).await, "+a -a +b -b +c +d -c -d");
}

#[test]
fn no_bound_may_be_zero() {
    let zero = [
        ("max_parallel", ExecutorBounds { max_parallel: 0, ..any() }),
        ("max_concurrent_mutations", ExecutorBounds { max_concurrent_mutations: 0, ..any() }),
        ("max_bodies", ExecutorBounds { max_bodies: 0, ..any() }),
        ("max_runs_per_depth", ExecutorBounds { max_runs_per_depth: 0, ..any() }),
        ("max_model_requests", ExecutorBounds { max_model_requests: 0, ..any() }),
    ];
    let mut harness: AgentHarness<()> = AgentHarness::new();
    for (name, bounds) in zero {
        let error = harness.with_bounds(bounds).err();
        assert_eq!(error, Some(ZeroBound(name)));
        assert!(error.unwrap().to_string().contains("give it at least 1"));
    }
    let ones: ExecutorBounds = serde_json::from_str(
        r#"{ "max_parallel": 1, "max_concurrent_mutations": 1, "max_bodies": 1, "max_runs_per_depth": 1,
             "max_model_requests": 1 }"#,
    )
    .unwrap();
    assert!(harness.with_bounds(ones).is_ok());
}

#[test]
fn a_tool_of_which_no_call_may_run_is_refused() {
    let probe = Probe::default();
    let mut harness: AgentHarness<()> = AgentHarness::new();
    let none = seen(&probe, "none", at_most(0, ToolPolicy::read_only()));
    let error = harness.register_tool(none).err().expect("refused");
    assert!(matches!(error, TinyAgentsError::Registry(RegistryError::NoConcurrency(name)) if name == "none"));
    assert!(harness.register_tool(seen(&probe, "one", at_most(1, ToolPolicy::read_only()))).is_ok());
}

#[tokio::test(start_paused = true)]
async fn runs_of_one_harness_do_not_share_permits() {
    let bounds = ExecutorBounds { max_bodies: 1, ..any() };
    let scene = Scene::new(TaskModel::default().on("go", [calls("act:a look:b")])).bounds(bounds);
    let run = || {
        let ctx = scene.harness.context(RunConfig::default(), ());
        scene.harness.invoke_in_context(&(), ctx, vec![Message::user("go")])
    };
    let (one, other) = tokio::time::timeout(TOO_LONG, async { tokio::join!(run(), run()) }).await.unwrap();
    assert_eq!(one.unwrap().messages, other.unwrap().messages);
    assert_eq!(scene.probe.log(), "+a +a -a -a +b +b -b -b", "each has the one permit of its own");
    assert_eq!(Scene::log_of("look:a look:b", ExecutorBounds { max_bodies: 1, ..any() }).await, super::ALONE);
}

/// Two agents whose requests take a while, beside a call that reads. Gives the peak of requests and what the probe of
/// the bodies saw.
async fn requests_of_two_agents(most: u32) -> (u32, String) {
    let agent = SubAgent::new("explore", "Explore.").reads_only();
    let mut first = calls("look:a");
    first.tool_calls.extend([ask("explore", "one"), ask("explore", "two")]);
    let model = TaskModel::default()
        .on("go", [first])
        .on("one", [calls("look:b")])
        .on("two", [calls("look:c")])
        .taking(Duration::from_millis(8));
    let bounds = ExecutorBounds { max_model_requests: most, ..any() };
    let scene = Scene::new(model).agent(agent).bounds(bounds);
    scene.run().await.unwrap();
    (scene.model.probe.peak(), scene.probe.log())
}

#[tokio::test(start_paused = true)]
async fn requests_to_models_are_bounded_in_the_tree_and_tools_run_meanwhile() {
    assert_eq!(requests_of_two_agents(16).await, (2, "+a +b +c -a -b -c".into()));
    // The second agent is asked while the first one's tool runs, and `a` runs all along.
    assert_eq!(requests_of_two_agents(1).await, (1, "+a +b -a +c -b -c".into()));
}
