//! The specification's code examples, word for word but for what it writes as `...`.

#[test]
fn s65_code_example_of_formats() {
    use serde_json::json;
    use tinyagents::harness::tool::{ToolFormat, ToolSchema};

    let json_tool = ToolSchema::new(
        "weather",
        "Look up weather for a city.",
        json!({
            "type": "object",
            "required": ["city"],
            "properties": { "city": { "type": "string" } }
        }),
    );

    let xml_tool = json_tool.clone().with_format(ToolFormat::Xml);

    let ptype_tool = ToolSchema::new(
        "search",
        "Search documents.",
        json!({
            "type": "object",
            "required": ["query"],
            "properties": {
                "query": { "type": "string" },
                "limit": { "type": "integer" }
            }
        }),
    )
    .with_format(ToolFormat::PType { parameters: vec!["query".to_string(), "limit".to_string()] });

    assert_eq!(json_tool.format, ToolFormat::Json);
    assert_eq!(xml_tool.format, ToolFormat::Xml);
    assert_eq!(ptype_tool.format, ToolFormat::PType { parameters: vec!["query".into(), "limit".into()] });
}

#[tokio::test]
async fn u11_code_example_of_unknown_tools() -> tinyagents::Result<()> {
    use tinyagents::harness::context::RunContext;
    use tinyagents::harness::message::Message;

    use crate::fixture::Recorder;

    let model = tinyagents::testkit::ScriptedModel::new()
        .call("missing", serde_json::json!({ "a": 1 }))
        .text("I did without it.");
    let ctx = RunContext::default();
    let events = Recorder::default();

    use tinyagents::harness::runtime::{AgentHarness, RunPolicy, UnknownToolPolicy};

    let mut harness: AgentHarness<()> = AgentHarness::new();
    harness.register_model("default", model)?.with_listener(events.listener());
    harness
        .with_policy(RunPolicy { unknown_tool: UnknownToolPolicy::ReturnToolError, ..RunPolicy::default() });

    let run = harness.invoke_in_context(&(), ctx, vec![Message::user("go")]).await?;
    // The injected repair message names the requested tool for the model.
    assert!(run.messages.iter().any(|m| m.text().contains("unknown tool `missing`")));
    // A single UnknownToolCall event was recorded with recovery == "tool_error".
    let recoveries = events.find(|event| match event {
        tinyagents::harness::event::AgentEvent::UnknownToolCall { recovery, .. } => Some(recovery.clone()),
        _ => None,
    });
    assert_eq!(recoveries, ["tool_error"]);
    Ok(())
}
