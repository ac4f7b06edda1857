//! A resource is found by its type at run time.

use tinyagents::harness::message::ToolCall;
use tinyagents::prelude::*;
use tinyagents::testkit::ScriptedModel;

struct Table(Vec<&'static str>);

/// Look something up.
#[tool(read_only)]
fn look_up(row: usize, #[inject] table: Resource<Table>, #[inject] by: Resource<u8>) -> String {
    format!("{} by {}", table.0[row], *by)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let kinds: Vec<_> = LookUp::spec().injected.iter().map(|arg| (&*arg.name, &*arg.kind)).collect();
    assert_eq!(kinds, [("table", "Resource"), ("by", "Resource")]);
    assert_eq!(LookUp::PARAMETERS, ["row"]);

    let model = ScriptedModel::new().text("never asked");
    let mut harness: AgentHarness<()> = AgentHarness::new();
    harness.register_model("default", model.clone()).unwrap().register_tool(LookUp).unwrap();
    harness.with_resource(Table(vec!["tea", "coffee"]));
    let error = harness.invoke(&(), vec![Message::user("go")]).await.unwrap_err().to_string();
    let expected = "the tool `look_up` injects a resource of type `u8`, which the harness does not have; add one with \
                    `AgentHarness::with_resource`";
    assert_eq!(error, expected);
    assert!(model.requests().is_empty());

    harness.with_resource(7_u8).with_resource(8_u8);
    let call = ToolCall::new("c", "look_up", json!({ "row": 1 }));
    let result = harness.call_tool(&(), RunContext::default(), call).await;
    assert_eq!(result.content, [ContentBlock::text("coffee by 8")]);
}
