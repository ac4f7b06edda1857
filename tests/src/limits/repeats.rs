//! Models that go in circles.

use serde_json::json;
use tinyagents::TinyAgentsError;
use tinyagents::harness::context::{LimitKind, RunLimits};
use tinyagents::harness::message::ToolCall;
use tinyagents::harness::middleware::ToolAllowlist;
use tinyagents::harness::policy::{ToolPolicy, ToolRuntimePolicy};
use tinyagents::harness::runtime::RunFinish;
use tinyagents::harness::store::{ArtifactStore, StoreError, StoreRegistry};
use tinyagents::harness::tool::{Tool, ToolError};
use tinyagents::testkit::ScriptedModel;

use super::{look, stop};
use crate::fixture::{Count, Stage, doing, ends, results, texts};

fn notice(times: u32) -> String {
    format!(
        "\nnote: this call was made {times} times with the same arguments and the same result; making it again changes \
         nothing"
    )
}

/// Whether each result says that the model goes in circles, and how often it says the call was made.
fn notices(stage: &Stage) -> Vec<u32> {
    let count = |text: String| (1..20).find(|times| text.ends_with(&notice(*times))).unwrap_or(0);
    texts(&stage.transcript()).into_iter().map(count).collect()
}

/// A tool whose results are those of a list, one after another.
fn says(policy: ToolPolicy, words: &'static [&'static str]) -> impl Tool<()> {
    let count = Count::default();
    doing("says", policy, move |_| {
        let word = words[count.get() as usize % words.len()];
        count.add();
        async move { Ok(word.to_string()) }
    })
}

fn says_so_often(times: usize) -> ScriptedModel {
    (0..times).fold(ScriptedModel::new(), |model, _| model.call("says", json!({})))
}

#[tokio::test]
async fn h74_an_identical_call_is_told_so_at_three_and_stopped_at_six() {
    let again = |n: usize| match n % 2 {
        0 => json!({ "q": "tea", "limit": 3 }),
        _ => json!({ "limit": 3.0, "q": "tea" }), // another order, and another spelling
    };
    let model = (0..9).fold(ScriptedModel::new(), |model, n| model.call("look", again(n)));
    let mut stage = Stage::new(model);
    let error = ends(stage.fails()).await;
    assert!(matches!(error, TinyAgentsError::LimitReached(LimitKind::Repeats)), "{error}");
    assert!(error.to_string().contains("`max_repeats`"));
    assert_eq!((notices(&stage), stage.looked.get()), (vec![0, 0, 3, 4, 5, 6], 6));
    assert_eq!(texts(&stage.transcript())[2], format!("found tea{}", notice(3)));
    assert!(results(&stage.transcript()).iter().all(|result| !result.is_error));
}

#[tokio::test]
async fn h74_the_last_turn_closes_whole() {
    let turn = |_: usize| [look("", "tea"), look("", "milk"), ToolCall::new("", "says", json!({}))];
    let model = (0..9).fold(ScriptedModel::new(), |model, n| model.calls(turn(n)));
    let mut stage = Stage::new(model)
        .policy(stop(RunLimits { repeat_notice: 9, max_repeats: 2, ..RunLimits::default() }))
        .tool(says(ToolPolicy::classified(), &["a", "b"]));
    let run = ends(stage.run()).await.unwrap();
    assert_eq!(run.finish, RunFinish::LimitReached(LimitKind::Repeats));
    let texts = texts(&run.messages);
    assert_eq!(texts.len(), 6);
    assert_eq!(texts[3], "found tea");
    assert_eq!(texts[5], "error: not executed: another call of this turn ended the run");
}

#[tokio::test]
async fn h72_calls_in_between_do_not_start_the_count_anew() {
    let model = (0..3).fold(ScriptedModel::new(), |model, n| {
        model
            .call("says", json!({}))
            .call("look", json!({ "q": n.to_string() }))
            .calls([look("", "a"), look("", "b")])
    });
    let mut stage = Stage::new(model.text("done")).tool(says(ToolPolicy::read_only(), &["same"]));
    ends(stage.run()).await.unwrap();
    // Turns of `says`, one other, and two that repeat as well.
    assert_eq!(notices(&stage), [0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 3, 3]);
}

#[tokio::test]
async fn h72_another_result_starts_the_count_anew() {
    let words = &["a", "a", "b", "a", "a", "a", "c", "c"];
    let mut stage = Stage::new(says_so_often(8).text("done")).tool(says(ToolPolicy::read_only(), words));
    ends(stage.run()).await.unwrap();
    assert_eq!(notices(&stage), [0, 0, 0, 0, 0, 3, 0, 0]);
}

#[tokio::test]
async fn h75_the_same_result_with_other_arguments_is_no_loop() {
    let model = (0..9).fold(ScriptedModel::new(), |model, n| model.call("says", json!({ "file": n })));
    let mut stage = Stage::new(model.text("done")).tool(says(ToolPolicy::read_only(), &["true"]));
    assert_eq!(ends(stage.run()).await.unwrap().answer().as_deref(), Some("done"));
    assert_eq!(notices(&stage), [0; 9]);
}

#[tokio::test]
async fn a_tool_that_polls_may_repeat_itself() {
    let polls =
        ToolPolicy::read_only().with_runtime(ToolRuntimePolicy { polling: true, ..Default::default() });
    let mut stage = Stage::new(says_so_often(9).text("done")).tool(says(polls, &["not yet"]));
    assert_eq!(ends(stage.run()).await.unwrap().answer().as_deref(), Some("done"));
    assert_eq!(notices(&stage), [0; 9]);
}

#[tokio::test]
async fn equal_calls_of_one_turn_count_once() {
    let turn = || (0..7).map(|_| look("", "tea"));
    let mut stage = Stage::new(ScriptedModel::new().calls(turn()).calls(turn()).calls(turn()).text("done"));
    ends(stage.run()).await.unwrap();
    assert_eq!(notices(&stage), [[0; 7], [0; 7], [3; 7]].concat());
}

/// Keeps nothing, and says that it did.
struct Keeps;

#[tinyagents::async_trait]
impl ArtifactStore for Keeps {
    async fn put(&self, _: &str, _: &str, _: Vec<u8>) -> Result<(), StoreError> {
        Ok(())
    }

    async fn get(&self, _: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(None)
    }
}

#[tokio::test]
async fn h74_a_call_that_cannot_run_or_fails_goes_in_circles_too() {
    let calls = [
        ("unknown", ToolCall::new("", "missing", json!({}))),
        ("invalid", ToolCall::new("", "look", json!({ "q": 5 }))),
        ("malformed", ToolCall::from_text("", "look", "{")),
        ("hidden", ToolCall::new("", "hidden", json!({}))),
        ("failed", ToolCall::new("", "fails", json!({}))),
        ("opaque", ToolCall::new("", "opaque", json!({}))), // its text has an id of the very call
        ("panics", ToolCall::new("", "panics", json!({}))),
        ("large", ToolCall::new("", "large", json!({}))), // its text says where this output is kept
    ];
    for (what, call) in calls {
        let model = (0..9).fold(ScriptedModel::new(), |model, _| model.calls([call.clone()]));
        let read = ToolPolicy::read_only;
        let mut stage = Stage::new(model)
            .tool(doing("hidden", read(), |_| async { Ok("seen".into()) }))
            .tool(doing("fails", read(), |_| async { Err(ToolError::failed("no")) }))
            .tool(doing("opaque", read(), |_| async { Err(ToolError::opaque("secret")) }))
            .tool(doing("panics", read(), |_| async { panic!("oh no") }))
            .tool(doing("large", read(), |_| async { Ok("x".repeat(70_000)) }));
        stage.harness.with_middleware(ToolAllowlist::new(["look", "fails", "opaque", "panics", "large"]));
        stage.harness.with_stores(StoreRegistry::new().with_artifacts(Keeps));
        let error = ends(stage.fails()).await;
        assert!(matches!(error, TinyAgentsError::LimitReached(LimitKind::Repeats)), "{what}: {error}");
        assert_eq!(notices(&stage), [0, 0, 3, 4, 5, 6], "{what}");
    }
}

#[tokio::test]
async fn a_refused_call_that_is_made_again_and_again_ends_the_run() {
    use tinyagents::harness::policy::ToolAccess;
    use tinyagents::testkit::ScriptedApprover;

    let asks =
        ToolPolicy::classified().with_access(ToolAccess { approval_required: true, ..Default::default() });
    for approver in [None, Some(ScriptedApprover::new().deny("no"))] {
        let mut stage = Stage::new(says_so_often(9)).tool(says(asks.clone(), &["never"]));
        approver.map(|approver| stage.harness.with_approver(approver));
        let error = ends(stage.fails()).await;
        assert!(matches!(error, TinyAgentsError::LimitReached(LimitKind::Repeats)), "{error}");
        assert_eq!(notices(&stage), [0, 0, 3, 4, 5, 6]);
    }
}
