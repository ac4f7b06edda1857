//! A call knows its place: its idempotency key, its attempt, its deadline.

use std::time::Duration;

use tinyagents::harness::message::ToolCall;
use tinyagents::prelude::*;
use tinyagents::testkit::ScriptedModel;

/// Say where this call stands.
#[tool(read_only, timeout = "30s")]
async fn place(
    #[inject] key: IdempotencyKey,
    #[inject] attempt: Attempt,
    #[inject] deadline: Deadline,
) -> String {
    assert!(attempt.is_first() && attempt.number() == 1);
    let left = deadline.remaining();
    assert!(left <= Duration::from_secs(30) && left > Duration::from_secs(20) && !deadline.is_over());
    assert!(deadline.at() > std::time::Instant::now());
    key.to_string()
}

/// Without a time of its own.
#[tool(read_only)]
async fn as_long_as_the_run(#[inject] deadline: Deadline) -> bool {
    deadline.remaining() > Duration::from_secs(500)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let kinds: Vec<_> = Place::spec().injected.iter().map(|arg| arg.kind.as_str()).collect();
    assert_eq!(kinds, ["IdempotencyKey", "Attempt", "Deadline"]);
    let call = || ToolCall::new("", "place", json!({}));
    let long = ToolCall::new("", "as_long_as_the_run", json!({}));
    let model = ScriptedModel::new().calls([call(), call()]).calls([call(), long]).text("done");
    let mut harness: AgentHarness<()> = AgentHarness::new();
    harness.register_model("default", model).unwrap();
    harness.register_tool(Place).unwrap().register_tool(AsLongAsTheRun).unwrap();
    let config = RunConfig { run_id: Some("r".into()), ..RunConfig::default() };
    let run = harness.invoke_in_context(&(), RunContext::new(config, ()), vec![Message::user("go")]).await.unwrap();
    let texts: Vec<_> = run.messages.iter().filter(|message| message.as_tool().is_some()).map(Message::text).collect();
    assert_eq!(texts, ["r-1-0", "r-1-1", "r-2-0", "true"]);
}
