//! How a tool is shown to a model.

use serde_json::json;
use tinyagents::harness::message::ToolCall;
use tinyagents::harness::tool::{Tool, ToolFormat, ToolRuntime, ToolSchema, ToolSpec};
use tinyagents::testkit::ScriptedModel;

use crate::fixture::Stage;

fn schema() -> ToolSchema {
    ToolSchema::new("search", "Search documents.", json!({ "type": "object" }))
}

#[test]
fn s57_a_schema_has_a_format() {
    assert_eq!(schema().format, ToolFormat::Json);
    assert_eq!(schema().with_format(ToolFormat::Xml).format, ToolFormat::Xml);
}

#[test]
fn s59_json_is_the_default_and_left_out() {
    let text =
        json!({ "name": "search", "description": "Search documents.", "parameters": { "type": "object" } });
    assert_eq!(serde_json::to_value(schema()).unwrap(), text);
    assert_eq!(serde_json::from_value::<ToolSchema>(text).unwrap(), schema());
    for format in [ToolFormat::Xml, ToolFormat::PType { parameters: vec!["query".into()] }] {
        let other = schema().with_format(format);
        let text = serde_json::to_string(&other).unwrap();
        assert_eq!(serde_json::from_str::<ToolSchema>(&text).unwrap(), other);
    }
    assert_eq!(serde_json::to_value(ToolFormat::Xml).unwrap(), json!("xml"));
    let ptype = ToolFormat::PType { parameters: vec!["query".into()] };
    assert_eq!(serde_json::to_value(ptype).unwrap(), json!({ "ptype": { "parameters": ["query"] } }));
}

#[tokio::test]
async fn s58_calls_have_one_shape() {
    let raw = r#"{"query": "rust agents", "limit": 5}"#;
    let from_text = ToolCall::from_text("c", "search", raw);
    let from_value = ToolCall::new("c", "search", json!({ "query": "rust agents", "limit": 5 }));
    assert_eq!(from_text, from_value);
    let text = json!({ "id": "c", "name": "search", "arguments": { "query": "rust agents", "limit": 5 } });
    assert_eq!(serde_json::to_value(&from_text).unwrap(), text);
}

/// A tool that wants to be shown as XML.
struct Tagged;

#[tinyagents::async_trait]
impl Tool<()> for Tagged {
    fn spec(&self) -> ToolSpec {
        let mut spec = ToolSpec::new("tagged", "Shown as XML.", json!({ "type": "object" }));
        spec.format = ToolFormat::Xml;
        spec
    }

    async fn call(
        &self,
        _: &(),
        _: ToolRuntime<'_>,
        call: ToolCall,
    ) -> tinyagents::Result<tinyagents::harness::tool::ToolResult> {
        Ok(tinyagents::harness::tool::ToolOutput::text("ok").into_result(&call))
    }
}

#[tokio::test]
async fn s68_a_native_declaration_keeps_the_format() {
    let model = ScriptedModel::new().call("tagged", json!({})).text("done");
    let mut stage = Stage::new(model).tool(Tagged);
    stage.run().await.unwrap();
    assert_eq!(stage.harness.tools().spec("tagged").unwrap().schema().format, ToolFormat::Xml);
    let request = &stage.model.requests()[0];
    let shown = request.tools.iter().find(|tool| tool.name == "tagged").unwrap();
    assert_eq!(shown.format, ToolFormat::Xml, "the adapter sees the preference");
}
