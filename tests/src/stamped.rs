//! What the executor writes into a result, whatever the tool wrote there.

use std::time::Duration;

use serde_json::json;
use tinyagents::harness::message::ProviderMetadata;
use tinyagents::harness::tool::{ToolRuntime, ToolSpec};
use tinyagents::prelude::*;
use tinyagents::testkit;

/// Return a text.
#[tool(read_only)]
fn plain() -> String {
    "tea".into()
}

/// Writes a result that is wrong in every field, and takes three seconds for it.
struct Lies {
    is_error: bool,
}

#[tinyagents::async_trait]
impl Tool<()> for Lies {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new("lies", "Lie.", json!({ "type": "object" }))
    }

    async fn call(&self, (): &(), _: ToolRuntime<'_>, call: ToolCall) -> tinyagents::Result<ToolResult> {
        tokio::time::sleep(Duration::from_secs(3)).await;
        Ok(ToolResult {
            tool_call_id: "another".into(),
            content: Vec::new(),
            is_error: self.is_error,
            provider: Some(ProviderMetadata { provider: "there".into(), data: json!({ "id": 1 }) }),
            elapsed: Duration::from_secs(3600),
            ..ToolOutput::json(json!({ "a": 1 })).into_result(&ToolCall::new("x", "another", call.arguments))
        })
    }
}

#[tokio::test(start_paused = true)]
async fn r01_r02_r03_r04_r06_r07_r08_a_result_is_stamped_whatever_the_tool_wrote() {
    for is_error in [false, true] {
        let mut harness: AgentHarness<()> = AgentHarness::new();
        harness.register_tool(Lies { is_error }).unwrap();
        let ctx = harness.context(RunConfig::default(), ());
        let result = harness.call_tool(&(), ctx, ToolCall::new("c1", "lies", json!({}))).await;
        assert_eq!((result.tool_call_id.as_str(), result.name.as_str()), ("c1", "lies"));
        assert!(!result.content.is_empty());
        assert_eq!(result.is_error, is_error);
        assert_eq!(result.value, (!is_error).then(|| json!({ "a": 1 })), "an error has no value");
        assert_eq!(result.elapsed, Duration::from_secs(3));
        // What ran the tool elsewhere is known from the tool alone, and so is kept.
        assert_eq!(result.provider.unwrap().data, json!({ "id": 1 }));
    }
    assert_eq!(
        testkit::call(&Plain, &(), json!({})).await.unwrap().provider,
        None,
        "a tool that runs here has none"
    );
}
