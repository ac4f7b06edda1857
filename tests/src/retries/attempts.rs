//! What an attempt knows and takes, and what is seen of it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tinyagents::harness::context::{RunContext, RunLimits, RunPolicy};
use tinyagents::harness::event::AgentEvent;
use tinyagents::harness::message::ToolCall;
use tinyagents::harness::middleware::{Middleware, ToolGate};
use tinyagents::harness::runtime::SubAgent;
use tinyagents::harness::tool::{Resource, ToolError, ToolResult};
use tinyagents::prelude::{Attempt, IdempotencyKey, tool};
use tinyagents::testkit::ScriptedModel;
use tokio::time::sleep;

use super::{Starts, attempts, flaky, one, reads};
use crate::fixture::{Count, Stage, doing, ends, texts};

#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<(u32, String)>>>);

/// Pay once, however often it is tried.
#[tool(idempotent, external_service, retries = 2)]
fn pay(
    #[inject] attempt: Attempt,
    #[inject] key: IdempotencyKey,
    #[inject] seen: Resource<Seen>,
) -> Result<u32, ToolError> {
    seen.0.lock().unwrap().push((attempt.number(), key.to_string()));
    if attempt.number() < 3 { Err(ToolError::transient("busy")) } else { Ok(attempt.number()) }
}

#[tokio::test(start_paused = true)]
async fn an_attempt_knows_its_number_and_all_have_one_key() {
    let seen = Seen::default();
    let model = ScriptedModel::new().call("pay", json!({})).call("pay", json!({})).text("done");
    let mut stage = Stage::new(model).tool(Pay);
    stage.harness.with_resource(seen.clone());
    ends(stage.run()).await.unwrap();
    let seen = seen.0.lock().unwrap().clone();
    let numbers: Vec<_> = seen.iter().map(|(attempt, _)| *attempt).collect();
    let keys: Vec<_> = seen.iter().map(|(_, key)| key.as_str()).collect();
    assert_eq!(numbers, [1, 2, 3, 1, 2, 3]);
    assert!(
        keys[..3].iter().all(|key| *key == keys[0]) && keys[3..].iter().all(|key| *key == keys[3]),
        "{keys:?}"
    );
    assert_ne!(keys[0], keys[3], "another call is another payment");
}

#[tokio::test(start_paused = true)]
async fn the_runs_retries_are_shared_by_its_calls_and_its_sub_agents() {
    // 4 for the run: the agent's two calls take what they may, its own limit is 3; one is left for the last call.
    let limits = |max_retries| RunLimits { max_retries, ..RunLimits::default() };
    let (inner, outer) = (Starts::default(), Starts::default());
    let model =
        ScriptedModel::new().call("agent", json!({ "task": "go" })).call("outer", json!({})).text("done");
    let mut stage = Stage::new(model)
        .policy(RunPolicy { limits: limits(4), ..RunPolicy::recovering() })
        .tool(flaky("inner", reads(2), 99, &inner))
        .tool(flaky("outer", reads(2), 99, &outer))
        .tool(SubAgent::new("agent", "Tries.").with_model("nested").with_limits(limits(3)).into_tool());
    let nested = ScriptedModel::new()
        .calls([ToolCall::new("", "inner", json!({})), ToolCall::new("", "inner", json!({ "n": 2 }))])
        .text("tried");
    stage.harness.register_model("nested", nested).unwrap();
    let run = ends(stage.run()).await.unwrap();
    assert_eq!((inner.count(), outer.count()), (2 + 3, 1 + 1));
    assert_eq!(
        texts(&run.messages),
        ["tried", "error: busy (after 2 attempts)"],
        "no retries left ends nothing"
    );
}

#[tokio::test(start_paused = true)]
async fn each_attempt_takes_a_tool_call() {
    let starts = Starts::default();
    let limits = RunLimits { max_tool_calls: 3, ..RunLimits::default() };
    let model = ScriptedModel::new().call("flaky", json!({})).call("look", json!({ "q": "tea" }));
    let mut stage = Stage::new(model).policy(RunPolicy { limits, ..RunPolicy::recovering() }).tool(flaky(
        "flaky",
        reads(9),
        99,
        &starts,
    ));
    let error = ends(stage.fails()).await;
    assert!(error.to_string().contains("max_tool_calls"), "{error}");
    assert_eq!((starts.count(), stage.looked.get(), attempts(&stage)), (3, 0, vec![3, 0]));
}

/// Counts what hooks are called for.
#[derive(Clone, Default)]
struct Hooks {
    before: Count,
    after: Count,
    errors: Arc<Mutex<Vec<String>>>,
}

#[tinyagents::async_trait]
impl Middleware<()> for Hooks {
    async fn before_tool(&self, _: &RunContext, _: &(), _: &mut ToolCall) -> tinyagents::Result<ToolGate> {
        self.before.add();
        Ok(ToolGate::Proceed)
    }

    async fn on_tool_error(&self, _: &RunContext, _: &(), _: &ToolCall, error: &ToolError) {
        self.errors.lock().unwrap().push(error.to_string());
    }

    async fn after_tool(
        &self,
        _: &RunContext,
        _: &(),
        _: &ToolCall,
        _: &mut ToolResult,
    ) -> tinyagents::Result<()> {
        self.after.add();
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn hooks_see_a_call_once_and_the_error_that_remains() {
    for (fails, errors) in [(9, vec!["try 3"]), (2, vec![])] {
        let (hooks, tries) = (Hooks::default(), Count::default());
        let flaky = doing("flaky", reads(2), move |_| {
            tries.add();
            let number = tries.get();
            async move {
                sleep(Duration::from_millis(1)).await;
                if number > fails {
                    Ok("good".into())
                } else {
                    Err(ToolError::transient(format!("try {number}")))
                }
            }
        });
        let mut stage = Stage::new(one("flaky")).tool(flaky);
        stage.harness.with_middleware(hooks.clone());
        ends(stage.run()).await.unwrap();
        assert_eq!((hooks.before.get(), hooks.after.get()), (1, 1));
        assert_eq!(*hooks.errors.lock().unwrap(), errors);
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_interrupted_says_how_often_it_was_started() {
    let starts = Starts::default();
    let mut stage = Stage::new(one("act")).tool(flaky("act", reads(3), 9, &starts));
    let events = stage.events.clone();
    let second = async {
        while starts.count() < 2 {
            sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::select! {
        _ = stage.run() => panic!("the run was to be dropped"),
        () = second => {}
    }
    let attempts = events.find(|event| match event {
        AgentEvent::ToolFailed { attempts, .. } => Some(*attempts),
        _ => None,
    });
    assert_eq!(attempts, [2]);
}
