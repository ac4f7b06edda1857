//! `explain` shows what a provider would be sent, and the same is sent.

use std::process::{Command, Output};

use serde_json::{Value, json};
use tinyagents::TinyAgentsError;
use tinyagents::harness::event::Decision;
use tinyagents::harness::message::Message;
use tinyagents::harness::middleware::ToolAllowlist;
use tinyagents::harness::policy::{SandboxMode, ToolAccess, ToolPolicy, ToolRuntimePolicy};
use tinyagents::harness::runtime::{AgentHarness, Explanation};
use tinyagents::harness::tool::dialect::SchemaDialect;
use tinyagents::harness::tool::{DynTool, Tool, ToolError};
use tinyagents::provider::openai::OpenAi;
use tinyagents::testkit::ScriptedModel;

use crate::fixture::{Count, example, look, results};
use crate::provider_openai::answers::completion;
use crate::provider_openai::server::Server;

fn with(name: &str, schema: Value, policy: ToolPolicy) -> impl Tool<()> + use<> {
    DynTool::new(name, schema, policy, |_, _| async { Ok::<_, ToolError>(String::from("done")) })
        .with_description("Does it.")
}

fn guarded() -> ToolPolicy {
    let runtime = ToolRuntimePolicy { sandbox: SandboxMode::Required, ..Default::default() };
    ToolPolicy::classified().with_runtime(runtime)
}

fn asking() -> ToolPolicy {
    ToolPolicy::classified().with_access(ToolAccess { approval_required: true, ..Default::default() })
}

fn harness(count: &Count) -> AgentHarness<()> {
    let open = json!({ "type": "object", "properties": { "n": { "type": "integer", "minimum": 3 } } });
    let map = json!({
        "type": "object",
        "properties": { "env": { "type": "object", "additionalProperties": { "type": "string" } } },
    });
    let mut harness = AgentHarness::new();
    harness.register_tool(look(count)).unwrap();
    harness.register_external(with("a.b", open.clone(), ToolPolicy::read_only())).unwrap();
    harness.register_tool(with("maps", map, guarded())).unwrap();
    harness.register_tool(with("ask_me", open, asking())).unwrap();
    harness
}

#[test]
fn everything_is_told_and_nothing_is_called() {
    let count = Count::default();
    let mut harness = harness(&count);
    let told = harness.explain(&SchemaDialect::openai_strict());
    let line = |told: &Explanation| -> Vec<_> {
        let tools = told.tools.iter();
        tools.map(|tool| (tool.shown_as.clone(), tool.strict, tool.decision)).collect()
    };
    let expected = [
        ("look", true, Decision::Allow),
        ("a_b", true, Decision::Allow),
        ("maps", false, Decision::Deny),
        ("ask_me", true, Decision::Deny),
    ];
    assert_eq!(line(&told), expected.map(|(name, strict, decision)| (name.to_string(), strict, decision)));
    assert_eq!(told.tools[1].name, "a.b");
    assert_eq!(told.tools[0].schema["required"], json!(["q", "limit"]));
    assert!(told.tools[2].reason.contains("sandbox"), "{}", told.tools[2].reason);
    assert!(told.tools[3].reason.contains("nobody can be asked"));
    assert!(!told.tools[2].notes.is_empty(), "why a tool is not strict is told");
    assert_eq!((told.max_tools, told.tokens), (Some(128), told.tools.iter().map(|tool| tool.tokens).sum()));
    harness.with_approver(tinyagents::testkit::ScriptedApprover::new());
    assert_eq!(harness.explain(&SchemaDialect::openai_strict()).tools[3].decision, Decision::Ask);
    assert_eq!(count.get(), 0);

    let text = told.to_string();
    assert!(
        text.contains("a.b (as a_b)") && text.contains("openai-strict: 4 tools of at most 128"),
        "{text}"
    );
    let back: Explanation = serde_json::from_value(serde_json::to_value(&told).unwrap()).unwrap();
    assert_eq!(back, told);
}

#[test]
fn the_size_is_four_bytes_to_a_token() {
    let mut harness: AgentHarness<()> = AgentHarness::new();
    harness.register_tool(with("t", json!({ "type": "object" }), ToolPolicy::read_only())).unwrap();
    let told = harness.explain(&SchemaDialect::canonical());
    let tool = &told.tools[0];
    let bytes = serde_json::to_string(&json!(["t", "Does it.", *tool.schema])).unwrap().len();
    assert_eq!(tool.tokens, bytes.div_ceil(4));
}

/// A harness with `t0`, `t1`, ...
fn many(count: usize) -> AgentHarness<()> {
    let mut harness = AgentHarness::new();
    for n in 0..count {
        let tool = with(&format!("t{n}"), json!({ "type": "object" }), ToolPolicy::read_only());
        harness.register_tool(tool).unwrap();
    }
    harness
}

#[test]
fn too_many_tools_are_told_of() {
    let told = many(129).explain(&SchemaDialect::openai());
    assert_eq!(
        told.notes[0].to_string(),
        "`tools` at `/`: more than the provider takes, so no request is sent"
    );
    assert!(many(128).explain(&SchemaDialect::openai()).notes.is_empty());
    assert!(many(129).explain(&SchemaDialect::mistral()).notes.is_empty());
}

#[tokio::test]
async fn more_tools_than_a_provider_takes_end_the_run_before_a_request() {
    let server = Server::once(completion(&json!({ "content": "done" }), "stop")).await;
    let go = || vec![Message::user("go")];
    let with_model = |count, provider: &'static str| {
        let mut harness = many(count);
        let model = server.model().streaming(false).with_provider(provider);
        harness.register_model("default", model).unwrap();
        harness
    };
    for provider in ["openai", "groq", "deepseek", "gemini"] {
        let error = with_model(129, provider).invoke(&(), go()).await.unwrap_err();
        let TinyAgentsError::TooManyTools { most: 128, count: 129, .. } = error else { panic!("{error:?}") };
        let text = error.to_string();
        assert!(text.contains("at most 128") && text.contains("`ToolAllowlist`"), "{text}");
    }
    assert_eq!(server.seen().len(), 0, "nothing was sent");

    // Each way out that the error names.
    let mut narrowed = with_model(129, "openai");
    narrowed.with_middleware(ToolAllowlist::new((0..128).map(|n| format!("t{n}"))));
    narrowed.invoke(&(), go()).await.unwrap();
    let mut raised = SchemaDialect::openai_strict();
    raised.limits.tools = Some(129);
    let mut harness = many(129);
    harness.register_model("default", server.model().streaming(false).with_dialect(raised)).unwrap();
    harness.invoke(&(), go()).await.unwrap();
    with_model(129, "mistral").invoke(&(), go()).await.unwrap();
    let sent: Vec<_> =
        server.seen().iter().map(|seen| seen.body["tools"].as_array().unwrap().len()).collect();
    assert_eq!(sent, [128, 129, 129]);
}

#[test]
fn the_table_of_hostile_tools_cannot_move_the_cursor() {
    let mut harness: AgentHarness<()> = AgentHarness::new();
    let schema =
        json!({ "type": "object", "properties": { "\u{1b}[2J\n": { "type": "string", "minLength": 2 } } });
    harness.register_external(with("x", schema, ToolPolicy::read_only())).unwrap();
    for dialect in SchemaDialect::all() {
        let text = harness.explain(&dialect).to_string();
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
    }
}

fn reply(calls: &Value) -> Vec<u8> {
    completion(&json!({ "content": null, "tool_calls": calls }), "tool_calls")
}

#[tokio::test]
async fn s60_s66_what_is_explained_is_what_is_sent_and_answers_are_mapped_back() {
    let call = json!([
        { "id": "c1", "type": "function", "function": { "name": "look", "arguments": "{\"q\":\"tea\",\"limit\":null}" } },
        { "id": "c2", "type": "function", "function": { "name": "a_b", "arguments": "{\"n\":null}" } },
    ]);
    let done = completion(&json!({ "content": "done" }), "stop");
    let server = Server::start(vec![reply(&call), done]).await;
    let count = Count::default();
    let mut harness = harness(&count);
    let model = server.model().streaming(false).with_provider("openai");
    harness.register_model("default", model).unwrap();
    let run = harness.invoke(&(), vec![Message::user("go")]).await.unwrap();
    assert_eq!(count.get(), 1, "a null for an optional parameter is none");
    let calls = &run.messages[1].as_assistant().unwrap().tool_calls;
    assert_eq!(*calls[0].arguments, json!({ "q": "tea" }), "the transcript holds what was meant");
    assert_eq!((calls[1].name.as_str(), &*calls[1].arguments), ("a.b", &json!({})));
    assert!(results(&run.messages).iter().all(|result| !result.is_error));

    let told = harness.explain(&SchemaDialect::openai_strict());
    for seen in server.seen() {
        let sent = seen.body["tools"].as_array().unwrap().clone();
        assert_eq!(sent.len(), told.tools.len());
        for (sent, told) in sent.iter().zip(&told.tools) {
            let function = &sent["function"];
            assert_eq!(function["name"], told.shown_as.as_str());
            assert_eq!(function["parameters"], *told.schema);
            assert_eq!(function["strict"], told.strict, "the flag is never left to the provider");
        }
    }
}

#[tokio::test]
async fn a_property_under_another_name_comes_back_under_its_own() {
    let call = json!([
        { "id": "c1", "type": "function", "function": { "name": "odd", "arguments": "{\"odd_name\":\"tea\"}" } },
    ]);
    let done = completion(&json!({ "content": "done" }), "stop");
    let server = Server::start(vec![reply(&call), done]).await;
    let mut harness: AgentHarness<()> = AgentHarness::new();
    let schema = json!({
        "type": "object",
        "properties": { "odd name": { "type": "string" } },
        "required": ["odd name"],
        "additionalProperties": false
    });
    harness.register_external(with("odd", schema, ToolPolicy::read_only())).unwrap();
    let model = server.model().streaming(false).with_dialect(SchemaDialect::gemini());
    harness.register_model("default", model).unwrap();
    let run = harness.invoke(&(), vec![Message::user("go")]).await.unwrap();
    let shown = &server.seen().remove(0).body["tools"][0]["function"]["parameters"];
    assert_eq!(shown["required"], json!(["odd_name"]));
    let calls = &run.messages[1].as_assistant().unwrap().tool_calls;
    assert_eq!(*calls[0].arguments, json!({ "odd name": "tea" }));
    assert!(!results(&run.messages)[0].is_error);
}

#[tokio::test]
async fn an_unknown_server_is_sent_schemas_as_they_are() {
    let server = Server::once(completion(&json!({ "content": "done" }), "stop")).await;
    let mut harness = harness(&Count::default());
    harness.register_model("default", server.model().streaming(false)).unwrap();
    harness.invoke(&(), vec![Message::user("go")]).await.unwrap();
    let sent = server.seen().remove(0).body["tools"].as_array().unwrap().clone();
    assert!(sent.iter().all(|tool| tool["function"].get("strict").is_none()));
    assert_eq!(
        sent[1]["function"]["parameters"]["properties"]["n"],
        json!({ "type": "integer", "minimum": 3 })
    );
}

#[tokio::test]
async fn a_declaration_that_a_hook_changed_is_sent_as_the_hook_wrote_it() {
    struct Narrow;
    #[tinyagents::async_trait]
    impl tinyagents::harness::middleware::Middleware<()> for Narrow {
        async fn before_model(
            &self,
            _: &tinyagents::harness::context::RunContext<()>,
            request: &mut tinyagents::harness::model::ModelRequest,
        ) -> tinyagents::Result<()> {
            let tools = std::sync::Arc::make_mut(&mut request.tools);
            tools.truncate(1);
            tools[0].parameters =
                json!({ "type": "object", "properties": { "only": { "type": "string" } } }).into();
            Ok(())
        }
    }
    let server = Server::once(completion(&json!({ "content": "done" }), "stop")).await;
    let mut harness = harness(&Count::default());
    let model = server.model().streaming(false).with_dialect(SchemaDialect::openai_strict());
    harness.register_model("default", model).unwrap();
    harness.with_middleware(Narrow);
    harness.invoke(&(), vec![Message::user("go")]).await.unwrap();
    let sent = server.seen().remove(0).body["tools"].as_array().unwrap().clone();
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0]["function"]["parameters"]["required"], json!(["only"]));
    assert_eq!(sent[0]["function"]["strict"], true);
}

#[tokio::test]
async fn hooks_and_scripts_see_the_tools_own_schemas() {
    let model = ScriptedModel::new().text("done");
    let mut harness = harness(&Count::default());
    harness.register_model("default", model.clone()).unwrap();
    harness.invoke(&(), vec![Message::user("go")]).await.unwrap();
    let shown = &model.requests()[0].tools;
    for (shown, own) in shown.iter().zip(harness.tools().schemas()) {
        assert_eq!(shown.parameters, own.parameters);
    }
}

#[test]
fn the_dialect_is_known_by_the_address_or_by_name() {
    use tinyagents::harness::model::Model;
    let name = |model: OpenAi| model.dialect().name;
    assert_eq!(name(OpenAi::new("https://api.openai.com/v1", "m")), "openai-strict");
    assert_eq!(name(OpenAi::new("https://api.mistral.ai/v1", "m")), "mistral");
    assert_eq!(name(OpenAi::new("http://127.0.0.1:8080", "m")), "canonical");
    assert_eq!(name(OpenAi::new("http://127.0.0.1:8080", "m").with_provider("llama.cpp")), "llama.cpp");
    assert_eq!(
        name(OpenAi::new("http://127.0.0.1:8080", "m").with_dialect(SchemaDialect::ollama())),
        "ollama"
    );
    assert_eq!(ScriptedModel::new().dialect().name, "canonical");
}

#[test]
fn the_example_runs_in_every_dialect() {
    let binary = example("explain");
    let explain = |arguments: &[&str]| Command::new(&binary).args(arguments).output().unwrap();
    let text = |output: &Output| String::from_utf8(output.stdout.clone()).unwrap();
    let listed = explain(&["--list"]);
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let names: Vec<_> = SchemaDialect::all().iter().map(|dialect| dialect.name).collect();
    assert_eq!(text(&listed).lines().collect::<Vec<_>>(), names);
    for name in names {
        let told: Explanation =
            serde_json::from_slice(&explain(&["--dialect", name, "--json"]).stdout).unwrap();
        println!("{name}: {} tools, {} tokens", told.tools.len(), told.tokens);
        assert_eq!((told.dialect.as_str(), told.tools.len()), (name, 5));
        assert_eq!(told.tools[4].name, "tracker.issues/search");
    }
    let table = text(&explain(&[]));
    assert!(table.contains("tracker.issues/search (as tracker_issues_search)"), "{table}");
    let wrong = explain(&["--dialect", "nobody"]);
    assert!(!wrong.status.success());
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("there are: openai-strict"));
}
