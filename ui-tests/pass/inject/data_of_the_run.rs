//! `&RunContext<T>` lends the data that the application gave to this run.

use tinyagents::prelude::*;
use tinyagents::testkit::ScriptedModel;

struct Tenant(&'static str);

/// Whose run it is.
#[tool(read_only)]
async fn whose(suffix: &str, #[inject] ctx: &RunContext<Tenant>) -> String {
    format!("{}{suffix}", ctx.data().0)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let model = ScriptedModel::new().call("whose", json!({ "suffix": "!" })).text("done");
    let mut harness: AgentHarness<(), Tenant> = AgentHarness::new();
    harness.register_model("default", model).unwrap().register_tool(Whose).unwrap();
    let ctx = RunContext::new(RunConfig::default(), Tenant("acme"));
    let run = harness.invoke_in_context(&(), ctx, vec![Message::user("go")]).await.unwrap();
    assert_eq!(run.messages[2].text(), "acme!");
    assert_eq!(Whose::PARAMETERS, ["suffix"]);
}
