//! A scripted model calls a tool, reads its result, and answers.

use tinyagents::prelude::*;
use tinyagents::testkit::ScriptedModel;

/// Add two numbers.
#[tool(read_only)]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let model = ScriptedModel::new().call("add", json!({ "a": 2, "b": 3 })).text("5");
    let mut harness: AgentHarness<()> = AgentHarness::new();
    harness.register_model("default", model).unwrap().register_tool(Add).unwrap();
    let run = harness.invoke(&(), vec![Message::user("2 + 3?")]).await.unwrap();
    assert_eq!(run.answer().as_deref(), Some("5"));
    assert_eq!(run.messages[2].text(), "5");
}
