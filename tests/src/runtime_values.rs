//! What a tool gets from the run.

use serde_json::json;
use tinyagents::harness::message::ToolCall;
use tinyagents::prelude::*;
use tinyagents::testkit::ScriptedModel;

use crate::fixture::results;

/// Write down a word.
#[tool(writes_files)]
async fn note(word: String, #[inject] ctx: &RunContext<Vec<String>>) -> String {
    let before = ctx.data().len();
    ctx.update(move |words: &mut Vec<String>| words.push(word));
    format!("{before} words before")
}

#[tokio::test]
async fn s28_context_updates_are_applied_in_call_order_when_the_turn_closes() {
    let call = |word: &str| ToolCall::new("", "note", json!({ "word": word }));
    let model = ScriptedModel::new().calls([call("one"), call("two")]).calls([call("three")]).text("done");
    let mut harness: AgentHarness<(), Vec<String>> = AgentHarness::new();
    harness.register_model("default", model).unwrap().register_tool(Note).unwrap();
    let ctx = RunContext::new(RunConfig::default(), vec!["zero".to_string()]);
    let run = harness.invoke_in_context(&(), ctx, vec![Message::user("go")]).await.unwrap();
    let texts: Vec<_> = results(&run.messages).iter().map(|result| result.text()).collect();
    assert_eq!(texts, ["1 words before", "1 words before", "3 words before"]);
}

/// Wait until told to stop.
#[tool(read_only, cancelable)]
async fn wait(#[inject] cancel: CancellationToken, #[inject] thread: ThreadId) -> String {
    cancel.cancelled().await;
    format!("stopped in {thread}")
}

#[tokio::test]
async fn s31_a_cancelled_run_is_seen_in_the_body() {
    let model = ScriptedModel::new().call("wait", json!({}));
    let mut harness: AgentHarness<()> = AgentHarness::new();
    harness.register_model("default", model).unwrap().register_tool(Wait).unwrap();
    let config = RunConfig { thread_id: Some("t1".into()), ..RunConfig::default() };
    let ctx = RunContext::new(config, ());
    let handle = ctx.handle();
    harness.with_listener(move |record: &EventRecord| {
        if record.event.kind() == "tool.started" {
            handle.cancel();
        }
    });
    let run = harness.invoke_in_context(&(), ctx, vec![Message::user("go")]).await.unwrap();
    assert_eq!(run.finish, RunFinish::Cancelled);
    // The body was told before it first waited: the result it has ready wins over the cancel.
    assert_eq!(run.messages[2].text(), "stopped in t1");
}

#[tokio::test]
async fn a_tool_that_needs_a_thread_says_so_where_there_is_none() {
    let error = tinyagents::testkit::call(&Wait, &(), json!({})).await.unwrap();
    assert!(format!("{:?}", error.content).contains("set `RunConfig::thread_id`"));
}

/// A value that the application makes for each call.
struct Tenant(String);

impl<State, Ctx> Inject<State, Ctx> for Tenant {
    fn inject(cx: &InjectContext<'_, State, Ctx>) -> Result<Self, ToolError> {
        let name = cx.runtime.ctx.config().metadata.get("tenant").and_then(|name| name.as_str());
        name.map(|name| Self(name.into())).ok_or_else(|| ToolError::fatal("the run has no tenant"))
    }
}

/// Say whom the run works for.
#[tool(read_only)]
fn whom(#[inject] tenant: Tenant) -> String {
    tenant.0
}

#[tokio::test]
async fn an_application_injects_its_own_values() {
    let model = ScriptedModel::new().call("whom", json!({})).text("done");
    let mut harness: AgentHarness<()> = AgentHarness::new();
    harness.register_model("default", model).unwrap().register_tool(Whom).unwrap();
    let mut config = RunConfig::default();
    config.metadata.insert("tenant".into(), json!("acme"));
    let run =
        harness.invoke_in_context(&(), RunContext::new(config, ()), vec![Message::user("go")]).await.unwrap();
    assert_eq!(run.messages[2].text(), "acme");
}

/// State can be shared instead of cloned.
struct NotClone(String);

/// Read the state.
#[tool(read_only)]
async fn read_state(#[inject] state: &NotClone) -> String {
    state.0.clone()
}

#[tokio::test]
async fn state_that_cannot_be_cloned_is_shared() {
    let model = ScriptedModel::new().call("read_state", json!({})).text("done");
    let mut harness: AgentHarness<NotClone> = AgentHarness::new();
    harness.register_model("default", model).unwrap().register_tool(ReadState).unwrap();
    let state = std::sync::Arc::new(NotClone("shared".into()));
    let run = harness.invoke(state, vec![Message::user("go")]).await.unwrap();
    assert_eq!(run.messages[2].text(), "shared");
}

#[tokio::test]
async fn a_plain_function_has_a_thread_of_its_own() {
    /// Say which thread this is.
    #[tool(read_only)]
    fn blocking() -> String {
        format!("{:?}", std::thread::current().id())
    }

    /// The same, where it was asked.
    #[tool(read_only, inline)]
    fn in_place() -> String {
        format!("{:?}", std::thread::current().id())
    }

    let here = format!("{:?}", std::thread::current().id());
    let text = |result: ToolResult| match result.content.as_slice() {
        [ContentBlock::Text { text }] => text.clone(),
        other => panic!("{other:?}"),
    };
    let elsewhere = tinyagents::testkit::call(&Blocking, &(), json!({})).await.unwrap();
    assert_ne!(text(elsewhere), here);
    let inline = tinyagents::testkit::call(&InPlace, &(), json!({})).await.unwrap();
    assert_eq!(text(inline), here);
}
