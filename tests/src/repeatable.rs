//! The same run gives the same bytes.

use serde_json::json;
use tinyagents::harness::context::RunConfig;
use tinyagents::harness::message::{Message, ToolCall};
use tinyagents::harness::runtime::AgentHarness;
use tinyagents::testkit::{CountedIds, FixedClock, ScriptedModel};

use crate::fixture::{Count, Recorder, look};

async fn once() -> (String, String) {
    let calls = [ToolCall::new("", "look", json!({ "q": "tea" })), ToolCall::new("", "missing", json!({}))];
    let model = ScriptedModel::new().calls(calls).text("done");
    let events = Recorder::default();
    let mut harness: AgentHarness<()> = AgentHarness::new();
    harness.register_model("default", model).unwrap().register_tool(look(&Count::default())).unwrap();
    harness.with_policy(tinyagents::harness::context::RunPolicy::recovering());
    harness.with_clock(FixedClock).with_ids(CountedIds::default()).with_listener(events.listener());
    let ctx = harness.context(RunConfig::default(), ());
    let run = harness.invoke_in_context(&(), ctx, vec![Message::user("go")]).await.unwrap();
    assert_eq!(run.run_id, "run_1");
    let ids: Vec<_> =
        crate::fixture::results(&run.messages).iter().map(|r| r.tool_call_id.to_string()).collect();
    assert_eq!(ids, ["call_1_0", "call_1_1"]);
    (serde_json::to_string(&run.messages).unwrap(), serde_json::to_string(&events.records()).unwrap())
}

#[tokio::test]
async fn a_run_with_a_fixed_clock_and_counted_ids_repeats_byte_for_byte() {
    assert_eq!(once().await, once().await);
}

#[tokio::test]
async fn run_ids_do_not_repeat_by_themselves() {
    let ids: std::collections::HashSet<_> =
        (0..1_000).map(|_| tinyagents::harness::context::RunContext::default().run_id().clone()).collect();
    assert_eq!(ids.len(), 1_000);
}

#[tokio::test]
async fn events_have_their_place() {
    let model = ScriptedModel::new()
        .call("look", json!({ "q": "tea" }))
        .call("look", json!({ "q": "tea" }))
        .text("x");
    let mut stage = crate::fixture::Stage::new(model);
    stage.run().await.unwrap();
    let records = stage.events.records();
    let offsets: Vec<_> = records.iter().map(|record| record.offset).collect();
    assert_eq!(offsets, (0..records.len() as u64).collect::<Vec<_>>());
    assert!(records.iter().all(|record| record.run_id == "run_1" && record.root_run_id == "run_1"));
    let turns: Vec<_> = records
        .iter()
        .filter(|record| record.event.kind() == "tool.started")
        .map(|record| record.turn)
        .collect();
    assert_eq!(turns, [1, 2]);
}

#[tokio::test]
async fn events_and_transcripts_survive_being_saved() {
    let calls = [ToolCall::new("", "look", json!({ "q": "tea" })), ToolCall::from_text("", "look", "{")];
    let mut stage = crate::fixture::Stage::new(ScriptedModel::new().calls(calls).text("done"));
    let run = stage.run().await.unwrap();
    let records = stage.events.records();
    let text = serde_json::to_string(&records).unwrap();
    assert_eq!(serde_json::from_str::<Vec<tinyagents::harness::event::EventRecord>>(&text).unwrap(), records);
    let text = serde_json::to_string(&run.messages).unwrap();
    assert_eq!(serde_json::from_str::<Vec<Message>>(&text).unwrap(), run.messages);
}
