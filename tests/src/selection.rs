//! Which tools a model is shown, turn by turn.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::json;
use tinyagents::harness::context::RunContext;
use tinyagents::harness::event::AgentEvent;
use tinyagents::harness::message::{Message, ToolCall};
use tinyagents::harness::middleware::{Middleware, ToolAllowlist};
use tinyagents::harness::model::{ModelReply, ModelRequest};
use tinyagents::harness::policy::ToolPolicy;
use tinyagents::testkit::ScriptedModel;

use crate::fixture::{Count, Stage, doing, results};

/// Shows the tool `b` in the first turn only.
#[derive(Default)]
struct OnlyOnce(AtomicU32);

#[tinyagents::async_trait]
impl Middleware<()> for OnlyOnce {
    async fn before_model(&self, _: &RunContext, request: &mut ModelRequest) -> tinyagents::Result<()> {
        if self.0.fetch_add(1, Ordering::SeqCst) > 0 {
            Arc::make_mut(&mut request.tools).retain(|tool| tool.name != "b");
        }
        Ok(())
    }
}

#[tokio::test]
async fn s08_s15_a_tool_that_is_hidden_this_turn_cannot_be_called() {
    let ran = Count::default();
    let counted = ran.clone();
    let b = doing("b", ToolPolicy::default(), move |_| {
        counted.add();
        async { Ok("b ran".into()) }
    });
    let model = ScriptedModel::new().call("b", json!({})).call("b", json!({})).text("done");
    let mut stage = Stage::new(model).tool(b);
    stage.harness.with_middleware(OnlyOnce::default());
    let run = stage.run().await.unwrap();
    let shown: Vec<Vec<_>> = stage
        .model
        .requests()
        .iter()
        .map(|request| request.tools.iter().map(|tool| tool.name.clone()).collect())
        .collect();
    assert_eq!(shown, [vec!["look", "b"], vec!["look"], vec!["look"]]);
    assert_eq!(ran.get(), 1, "it ran while it was shown");
    let texts: Vec<_> = results(&run.messages).iter().map(|result| result.text()).collect();
    assert_eq!(texts[0], "b ran");
    assert_eq!(
        texts[1], "error: unknown tool `b`, called with {}; nothing was executed; call one of: look",
        "the answer does not name what is hidden"
    );
    assert_eq!(stage.events.kinds().iter().filter(|kind| **kind == "tool.unknown").count(), 1);
}

#[tokio::test]
async fn s01_s10_s11_one_run_shows_each_responsibility() {
    let mut stage = Stage::new(ScriptedModel::new().call("look", json!({ "q": "tea" })).text("done"));
    let run = stage.run().await.unwrap();
    let tools: Vec<_> = results(&run.messages);
    assert_eq!(tools.len(), 1);
    assert_eq!(run.messages[2].as_tool().unwrap().tool_call_id, "call_1");
    let kinds = stage.events.kinds();
    let expected = [
        "run.started",
        "model.started",
        "model.completed",
        "turn.opened",
        "tool.requested",
        "tool.decided",
        "turn.segment_opened",
        "tool.admitted",
        "tool.started",
        "tool.completed",
        "turn.closed",
        "model.started",
        "model.delta",
        "model.completed",
        "run.completed",
    ];
    assert_eq!(kinds, expected);
}

#[tokio::test]
async fn what_a_policy_redacts_is_in_no_captured_payload() {
    const SECRET: &str = "tea-with-milk-77";

    /// Order something.
    #[tinyagents::tool(redact("order.secret", "orders.secret"))]
    fn order(
        order: tinyagents::serde_json::Value,
    ) -> tinyagents::harness::tool::Json<tinyagents::serde_json::Value> {
        tinyagents::harness::tool::Json(json!({ "orders": [order, { "secret": SECRET }], "plain": 1 }))
    }

    let calls = [
        ToolCall::new("c1", "order", json!({ "order": { "secret": SECRET, "size": "small" } })),
        ToolCall::from_text("c2", "order", &format!("{{\"order\": \"{SECRET}")),
    ];
    let mut stage = Stage::new(ScriptedModel::new().calls(calls).text("done")).tool(Order);
    stage.run().await.unwrap();
    let records: Vec<_> = stage
        .events
        .records()
        .into_iter()
        .filter(|record| !matches!(record.event, AgentEvent::InvalidToolArgs { .. }))
        .collect();
    let text = serde_json::to_string(&records).unwrap();
    assert!(!text.contains(SECRET), "{text}");
    assert!(text.contains("small") && text.contains("plain"), "the rest is shown: {text}");
    assert!(text.contains("[redacted]"));
}

#[tokio::test]
async fn without_capture_events_carry_no_payload() {
    let mut stage = Stage::new(ScriptedModel::new().call("look", json!({ "q": "earl grey" })).text("done"));
    stage.harness.with_payload_capture(tinyagents::harness::event::PayloadCapture::Off);
    stage.run().await.unwrap();
    let text = serde_json::to_string(&stage.events.records()).unwrap();
    assert!(!text.contains("earl grey"), "{text}");
}

/// Cuts what the model is told, and notes what it replied.
struct Rewriting(Count);

#[tinyagents::async_trait]
impl Middleware<()> for Rewriting {
    async fn after_model(&self, _: &RunContext, reply: &mut ModelReply) -> tinyagents::Result<()> {
        self.0.add();
        for call in &mut reply.message.tool_calls {
            call.arguments = json!({ "q": "rewritten" }).into();
        }
        Ok(())
    }
}

#[tokio::test]
async fn hooks_see_the_reply_before_its_calls() {
    let count = Count::default();
    let mut stage = Stage::new(ScriptedModel::new().call("look", json!({ "q": "tea" })).text("done"));
    stage.harness.with_middleware(Rewriting(count.clone()));
    let run = stage.run().await.unwrap();
    assert_eq!(run.messages[2].text(), "found rewritten");
    assert_eq!(run.messages[1].as_assistant().unwrap().tool_calls[0].arguments, json!({ "q": "rewritten" }));
    assert_eq!(count.get(), 2);
    assert!(matches!(run.messages[3], Message::Assistant(_)));
}

#[tokio::test]
async fn an_allowlist_shows_nothing_that_an_earlier_hook_hides_in_a_later_turn() {
    let tool = |name| doing(name, ToolPolicy::default(), |_| async { Ok(String::new()) });
    let model = ScriptedModel::new().call("a", json!({})).call("a", json!({})).text("done");
    let mut stage = Stage::new(model).tool(tool("a")).tool(tool("b"));
    stage.harness.with_middleware(OnlyOnce::default()).with_middleware(ToolAllowlist::new(["a", "b"]));
    stage.run().await.unwrap();
    let requests = stage.model.requests();
    let shown = requests
        .iter()
        .map(|request| request.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>());
    assert_eq!(shown.collect::<Vec<_>>(), [vec!["a", "b"], vec!["a"], vec!["a"]]);
}
