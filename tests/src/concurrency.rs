//! What runs beside what, seen from outside. Each claim of overlap stands beside its serial twin, so that neither an
//! executor that never overlaps nor one that always does could pass.
//!
//! Guarantee: calls that only read overlap, calls that may change something run alone unless the application promoted
//! them, and everything that starts keeps to the bounds and to the order of the calls. Not here: nested runs
//! (`sub_agents`), and what a turn comes to (`serial_oracle`).

mod bounds;
mod order;

use tinyagents::harness::executor::ExecutorBounds;
use tinyagents::harness::policy::{ToolPolicy, ToolSideEffects};
use tinyagents::harness::tool::{Tool, ToolCall, ToolClass, ToolOutput, ToolResult, ToolRuntime, ToolSpec};
use tinyagents::serde_json::{Value, json};

use crate::probes::{Probe, Scene, TaskModel, calls, seen};

fn any() -> ExecutorBounds {
    ExecutorBounds::default()
}

fn one_at_a_time() -> ExecutorBounds {
    ExecutorBounds { max_parallel: 1, ..any() }
}

/// What the probe sees of two calls of a tool that stand together.
async fn two_of(tool: impl Tool<()> + 'static, probe: &Probe) -> String {
    let name = tool.spec().name;
    let model = TaskModel::default().on("go", [calls(&format!("{name}:a {name}:b"))]);
    let scene = Scene::new(model).tool(tool);
    scene.run().await.unwrap();
    probe.log()
}

/// The same for a tool of this policy.
async fn two_with(policy: ToolPolicy) -> String {
    let probe = Probe::default();
    two_of(seen(&probe, "it", policy), &probe).await
}

const BESIDE: &str = "+a +b -a -b";
const ALONE: &str = "+a -a +b -b";

#[tokio::test(start_paused = true)]
async fn neighbours_that_read_overlap_and_one_at_a_time_they_do_not() {
    assert_eq!(Scene::log_of("look:a look:b", any()).await, BESIDE);
    assert_eq!(Scene::log_of("look:a look:b", one_at_a_time()).await, ALONE);
}

#[tokio::test(start_paused = true)]
async fn a_change_overlaps_nothing_of_its_run_and_a_reading_call_in_its_place_does() {
    let log = Scene::log_of("look:a look:b act:c look:d look:e", any()).await;
    assert_eq!(log, "+a +b -a -b +c -c +d +e -d -e");
    let log = Scene::log_of("look:a look:b look:c look:d look:e", any()).await;
    assert_eq!(log, "+a +b +c +d +e -a -b -c -d -e");
    assert_eq!(Scene::log_of("act:a act:b", any()).await, ALONE);
}

#[tokio::test(start_paused = true)]
async fn groups_of_different_kinds_follow_each_other() {
    let log = Scene::log_of("look:a look:b tag:c tag:d look:e act:f tag:g", any()).await;
    assert_eq!(log, "+a +b -a -b +c +d -c -d +e -e +f -f +g -g");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_runs_nothing_is_no_barrier() {
    assert_eq!(Scene::log_of("look:a nope:x look:b", any()).await, BESIDE);
    assert_eq!(Scene::log_of("look:a act:x look:b", any()).await, "+a -a +x -x +b -b");
}

/// Written by hand, with nothing but what the trait demands and what a test says.
struct ByHand {
    probe: Probe,
    policy: ToolPolicy,
    class: Option<ToolClass>,
    effect: Option<fn(&Value) -> ToolClass>,
}

impl ByHand {
    fn new(probe: &Probe, policy: ToolPolicy) -> Self {
        Self { probe: probe.clone(), policy, class: None, effect: None }
    }
}

#[tinyagents::async_trait]
impl Tool<()> for ByHand {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new("by_hand", "Written by hand.", json!({ "type": "object" }))
    }

    fn policy(&self) -> ToolPolicy {
        self.policy.clone()
    }

    fn class(&self) -> ToolClass {
        self.class.unwrap_or_else(|| {
            if self.policy.is_read_only() { ToolClass::ReadOnly } else { ToolClass::Mutating }
        })
    }

    fn effect(&self, arguments: &Value) -> ToolClass {
        self.effect.map_or_else(|| self.class(), |effect| effect(arguments))
    }

    async fn call(&self, _: &(), _: ToolRuntime<'_>, call: ToolCall) -> tinyagents::Result<ToolResult> {
        let _within = self.probe.enter(&call.id);
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        Ok(ToolOutput::text("ok").into_result(&call))
    }
}

/// Nothing but what the trait demands.
struct Bare(Probe);

#[tinyagents::async_trait]
impl Tool<()> for Bare {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new("bare", "Says nothing of itself.", json!({ "type": "object" }))
    }

    async fn call(&self, _: &(), _: ToolRuntime<'_>, call: ToolCall) -> tinyagents::Result<ToolResult> {
        let _within = self.0.enter(&call.id);
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        Ok(ToolOutput::text("ok").into_result(&call))
    }
}

#[tokio::test(start_paused = true)]
async fn t4_a_tool_without_a_class_runs_alone() {
    let probe = Probe::default();
    assert_eq!(two_of(Bare(probe.clone()), &probe).await, ALONE);
    let probe = Probe::default();
    let reads = ByHand { class: Some(ToolClass::ReadOnly), ..ByHand::new(&probe, ToolPolicy::default()) };
    assert_eq!(two_of(reads, &probe).await, BESIDE);
}

#[tokio::test(start_paused = true)]
async fn t5_an_unclassified_tool_runs_alone_whatever_effects_it_leaves_out() {
    assert_eq!(two_with(ToolPolicy::default()).await, ALONE);
    let unclassified = ToolPolicy { classified: false, ..ToolPolicy::read_only() };
    assert_eq!(two_with(unclassified).await, ALONE);
    let writes = ToolSideEffects { read_only: true, writes_files: true, ..Default::default() };
    assert_eq!(two_with(ToolPolicy::classified().with_side_effects(writes)).await, ALONE);
    assert_eq!(two_with(ToolPolicy::read_only()).await, BESIDE);
}

#[tokio::test(start_paused = true)]
async fn t11_promoted_calls_overlap_and_the_same_without_it_do_not() {
    assert_eq!(Scene::log_of("tag:a tag:b", any()).await, BESIDE);
    assert_eq!(two_with(ToolPolicy::classified()).await, ALONE);
    // Promotion changes nothing for those that are not promoted, and is nothing a tool could do.
    assert_eq!(Scene::log_of("tag:a act:b", any()).await, ALONE);
    assert_eq!(Scene::log_of("tag:a tag:b", one_at_a_time()).await, ALONE);
    let mut scene = Scene::new(TaskModel::default());
    assert!(scene.harness.promote("nope").is_err());
}

/// Changes something if it says so.
fn by_word(arguments: &Value) -> ToolClass {
    match arguments["changes"].as_bool() {
        Some(true) => ToolClass::Mutating,
        Some(false) => ToolClass::ReadOnly,
        None => panic!("nobody knows"),
    }
}

/// What the probe sees of two calls of a tool that asks `effect` of these arguments.
async fn two_calls(policy: ToolPolicy, effect: fn(&Value) -> ToolClass, arguments: [Value; 2]) -> String {
    let probe = Probe::default();
    let tool = ByHand { effect: Some(effect), ..ByHand::new(&probe, policy) };
    let [a, b] = arguments;
    let turn = [ToolCall::new("a", "by_hand", a), ToolCall::new("b", "by_hand", b)];
    let model = TaskModel::default().on("go", [tinyagents::harness::message::AssistantMessage::calls(turn)]);
    Scene::new(model).tool(tool).run().await.unwrap();
    probe.log()
}

#[tokio::test(start_paused = true)]
async fn the_arguments_make_a_call_stricter_or_looser_than_its_tool() {
    let (changes, reads) = (json!({ "changes": true }), json!({ "changes": false }));
    let (writer, reader) = (ToolPolicy::classified, ToolPolicy::read_only);
    let two = |policy, a: &Value, b: &Value| two_calls(policy, by_word, [a.clone(), b.clone()]);
    assert_eq!(two(writer(), &reads, &reads).await, BESIDE, "looser");
    assert_eq!(two(writer(), &changes, &changes).await, ALONE, "as its tool");
    assert_eq!(two(reader(), &changes, &changes).await, ALONE, "stricter");
    assert_eq!(two(reader(), &reads, &reads).await, BESIDE, "as its tool");
    assert_eq!(two(reader(), &reads, &changes).await, ALONE, "a call that reads, then one that does not");
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_effect_cannot_be_told_counts_as_a_change() {
    let unknown = || json!({});
    assert_eq!(two_calls(ToolPolicy::read_only(), by_word, [unknown(), unknown()]).await, ALONE);
    let known = || json!({ "changes": false });
    assert_eq!(two_calls(ToolPolicy::read_only(), by_word, [known(), known()]).await, BESIDE);
}
