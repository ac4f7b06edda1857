//! Names, duplicates and aliases of tools.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::json;
use tinyagents::TinyAgentsError;
use tinyagents::harness::message::{ProviderRules, Spelling, ToolCall};
use tinyagents::harness::model::{DeltaSink, Model, ModelError, ModelReply, ModelRequest};
use tinyagents::harness::policy::ToolPolicy;
use tinyagents::harness::tool::dialect::SchemaDialect;
use tinyagents::harness::tool::{RegistryError, ToolName, ToolNameError, ToolRegistry, Toolset};
use tinyagents::testkit::ScriptedModel;

use crate::fixture::{Count, Stage, doing, look, results};

fn named(name: &str) -> impl tinyagents::harness::tool::Tool<()> + use<> {
    doing(name, ToolPolicy::default(), |_| async { Ok(String::new()) })
}

#[test]
fn s03_a_registered_tool_is_found() {
    let mut registry = ToolRegistry::new();
    registry.register(look(&Count::default())).unwrap();
    assert!(registry.get("look").is_some());
    assert!(registry.get("Look").is_none());
    assert_eq!(registry.len(), 1);
}

#[test]
fn s04_s34_t2_a_doubled_name_is_refused_and_changes_nothing() {
    let mut registry = ToolRegistry::new();
    registry.register(look(&Count::default())).unwrap();
    let error = registry.register(look(&Count::default())).unwrap_err();
    assert_eq!(error, RegistryError::Duplicate("look".into()));
    assert!(error.to_string().contains("`look`"));
    assert_eq!(registry.len(), 1);
}

#[test]
fn s34_a_doubled_alias_is_refused() {
    let mut registry = ToolRegistry::new();
    registry.register(named("one")).unwrap();
    registry.register(named("two")).unwrap();
    registry.alias("openai", "one", "first").unwrap();
    registry.alias("anthropic", "two", "first").unwrap(); // another provider's names are its own
    assert_eq!(registry.alias("openai", "two", "first"), Err(RegistryError::Duplicate("first".into())));
    assert_eq!(registry.alias("openai", "two", "one"), Err(RegistryError::Duplicate("one".into())));
    assert_eq!(registry.alias("openai", "nope", "x"), Err(RegistryError::NoSuchTool("nope".into())));
    assert_eq!(registry.register(named("first")), Err(RegistryError::Duplicate("first".into())));
    registry.alias("openai", "one", "uno").unwrap(); // an alias can be replaced
}

#[test]
fn a_set_is_taken_whole_or_not_at_all() {
    let mut registry = ToolRegistry::new();
    registry.register(named("one")).unwrap();
    registry.alias("openai", "one", "first").unwrap();
    let set = |last: &str| Toolset::new().with(named("two")).with(named("three")).with(named(last));
    for (last, error) in [
        ("one", RegistryError::Duplicate("one".into())),
        ("first", RegistryError::Duplicate("first".into())),
        ("two", RegistryError::Duplicate("two".into())),
        ("No", ToolName::new("No").unwrap_err().into()),
    ] {
        assert_eq!(registry.register_all(set(last)), Err(error));
        assert_eq!(registry.len(), 1, "{last}");
        assert!(registry.get("two").is_none());
    }
    assert_eq!(registry.register_all(set("four").with_all(Toolset::new().with(named("five")))), Ok(()));
    let names: Vec<_> = registry.names().map(ToString::to_string).collect();
    assert_eq!(names, ["one", "two", "three", "four", "five"]);
}

#[test]
fn s32_names_are_ascii_snake_case() {
    let refused = [
        ("Café", "caf"),
        ("searchDocs", "search_docs"),
        ("HTTPGet", "httpget"),
        ("a-b", "a_b"),
        ("9lives", "_9lives"),
        ("Dockerfile problems scanner", "dockerfile_problems_scanner"),
        ("日本", "tool"),
    ];
    for (name, suggested) in refused {
        match ToolName::new(name) {
            Err(ToolNameError::NotSnakeCase { suggestion, .. }) => {
                assert_eq!(suggestion, suggested);
                assert!(ToolName::new(suggestion).is_ok(), "the way out works");
            }
            other => panic!("{name}: {other:?}"),
        }
    }
    for name in ["a", "_", "_a", "search_docs", "a1"] {
        assert!(ToolName::new(name).is_ok(), "{name}");
    }
}

#[test]
fn s33_an_empty_name_is_refused() {
    assert_eq!(ToolName::new(""), Err(ToolNameError::Empty));
    let error = ToolRegistry::new().register(named("")).unwrap_err();
    assert_eq!(error, RegistryError::Name(ToolNameError::Empty));
}

#[test]
fn s35_blanks_are_refused() {
    for name in ["a b", " a", "a\t", "a\n", "a\u{a0}b", " "] {
        assert!(matches!(ToolName::new(name), Err(ToolNameError::NotSnakeCase { .. })), "{name:?}");
    }
}

#[test]
fn s36_over_long_names_are_refused() {
    assert!(ToolName::new("a".repeat(64)).is_ok());
    let error = ToolName::new("a".repeat(65)).unwrap_err();
    assert!(matches!(error, ToolNameError::TooLong { length: 65, .. }));
    assert!(error.to_string().contains("at most 64"));
}

#[test]
fn s37_names_that_need_escaping_are_refused() {
    for name in ["a.b", "a/b", "a:b", "a\"b", "a<b", "a&b", "$a", "a\\b"] {
        assert!(matches!(ToolName::new(name), Err(ToolNameError::NotSnakeCase { .. })), "{name:?}");
    }
}

#[tokio::test]
async fn s38_s39_an_alias_is_seen_by_its_provider_only() {
    let call = ToolCall::new("c", "web_look", json!({ "q": "tea" }));
    let mut stage = Stage::new(ScriptedModel::new().calls([call]).text("done"));
    stage.harness.alias_tool("scripted", "look", "web_look").unwrap();
    stage.harness.alias_tool("openai", "look", "other").unwrap();
    let run = stage.run().await.unwrap();
    let request = &stage.model.requests()[1];
    assert_eq!(request.tools[0].name, "web_look", "the provider is shown the alias");
    assert_eq!(request.shown_name("look"), "web_look", "also for calls in the history");
    assert_eq!(stage.looked.get(), 1);
    assert_eq!(run.messages[1].as_assistant().unwrap().tool_calls[0].name, "look");
    assert_eq!(results(&run.messages)[0].name, "look");
    let names = stage.events.find(|event| match event {
        tinyagents::harness::event::AgentEvent::ToolStarted { tool_name, .. } => Some(tool_name.clone()),
        _ => None,
    });
    assert_eq!(names, ["look"]);
}

#[test]
fn a_schema_that_cannot_be_enforced_is_refused_at_registration() {
    let with = |schema: serde_json::Value| {
        let tool =
            tinyagents::harness::tool::DynTool::new("t", schema, ToolPolicy::default(), |_, _| async {
                Ok::<_, tinyagents::harness::tool::ToolError>(String::new())
            });
        let mut harness: tinyagents::harness::runtime::AgentHarness<()> = Default::default();
        harness.register_tool(tool).map(|_| ()).unwrap_err()
    };
    let refused = [
        (json!({}), "must have `\"type\": \"object\"`"),
        (json!({ "type": "string" }), "must have `\"type\": \"object\"`"),
        (
            json!({ "type": "object", "properties": { "a": { "type": "text" } } }),
            "`type` \"text\" is none of",
        ),
        (json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/A" } } }), "points to nothing"),
        (json!({ "type": "object", "properties": { "a": { "$ref": "http://x/y" } } }), "leaves the schema"),
        (json!({ "type": "object", "properties": { "a": 5 } }), "a schema is an object or a boolean"),
        (json!({ "type": "object", "required": "a" }), "`required` must be an array"),
        (json!({ "type": "object", "$ref": "#" }), "leads back to itself"),
    ];
    for (schema, reason) in refused {
        match with(schema.clone()) {
            TinyAgentsError::Registry(error) => assert!(error.to_string().contains(reason), "{error}"),
            other => panic!("{schema}: {other:?}"),
        }
    }
    let deep =
        (0..200).fold(json!({ "type": "integer" }), |inner, _| json!({ "type": "array", "items": inner }));
    let error = with(json!({ "type": "object", "properties": { "a": deep } }));
    assert!(error.to_string().contains("too deep"), "{error}");
}

#[test]
fn s37_an_imported_name_is_any_without_spaces_and_control_characters() {
    let mut registry = ToolRegistry::new();
    let long = "x".repeat(300);
    for name in ["a.b", "a/b", "mcp:files/read", "Größe", "日本", "$weird", "a\"b", "<a>", "9lives", &long]
    {
        assert!(ToolName::new(name).is_err(), "{name}");
        assert!(matches!(registry.register(named(name)), Err(RegistryError::Name(_))), "{name}");
        registry.register_external(named(name)).unwrap();
        assert!(registry.get(name).is_some(), "{name}");
        assert_eq!(
            registry.register_external(named(name)),
            Err(RegistryError::Duplicate(name.into())),
            "{name}"
        );
    }
    assert_eq!(registry.len(), 10);
    assert_eq!(registry.register_external(named("")), Err(RegistryError::Name(ToolNameError::Empty)));
    for name in
        ["a b", " a", "a\t", "a\n", "a\u{a0}b", "a\u{2028}", "a\0", "\u{1b}[1m", "a\u{85}", "\u{3000}"]
    {
        let error = registry.register_external(named(name)).unwrap_err();
        let RegistryError::Name(ToolNameError::Blank { character, .. }) = &error else { panic!("{error:?}") };
        let words = error.to_string();
        assert!(words.contains(&format!("U+{:04X}", u32::from(*character))), "{words}");
        assert!(!words.chars().any(char::is_control), "the text can be printed: {words:?}");
    }
    assert_eq!(registry.len(), 10);
}

/// A script that says it is another provider's.
#[derive(Clone)]
pub struct Of(pub &'static str, pub ScriptedModel);

#[tinyagents::async_trait]
impl Model for Of {
    fn name(&self) -> &str {
        "small"
    }

    fn provider(&self) -> &str {
        self.0
    }

    async fn generate(
        &self,
        request: &ModelRequest,
        deltas: &DeltaSink<'_>,
    ) -> Result<ModelReply, ModelError> {
        self.1.generate(request, deltas).await
    }
}

/// What a provider is shown, in the order of `names`, which is what is explained; and how the calls of everything shown
/// come out.
async fn shown_to(provider: &'static str, names: &[&str], chosen: &[(&str, &str)]) -> Vec<String> {
    let script = ScriptedModel::new()
        .respond(|request| {
            let calls = request.tools.iter().enumerate();
            Ok(tinyagents::harness::message::AssistantMessage::calls(
                calls.map(|(n, tool)| ToolCall::new(format!("c{n}"), tool.name.clone(), json!({}))),
            )
            .into())
        })
        .text("done");
    let mut stage = Stage::new(ScriptedModel::new());
    stage.harness.register_model("other", Of(provider, script.clone())).unwrap();
    for name in names {
        stage.harness.register_external(named(name)).unwrap();
    }
    for (name, alias) in chosen {
        stage.harness.alias_tool(provider, name, alias).unwrap();
    }
    let config =
        tinyagents::harness::context::RunConfig { model: Some("other".into()), ..Default::default() };
    let ctx = stage.harness.context(config, ());
    let go = vec![tinyagents::harness::message::Message::user("go")];
    let run = stage.harness.invoke_in_context(&(), ctx, go).await.unwrap();
    let own: Vec<&str> = std::iter::once("look").chain(names.iter().copied()).collect();
    let called: Vec<_> =
        run.messages[1].as_assistant().unwrap().tool_calls.iter().map(|call| call.name.as_str()).collect();
    assert_eq!(called, own, "the transcript has the tools' own names");
    let answered: Vec<_> = results(&run.messages).iter().map(|result| result.name.to_string()).collect();
    assert_eq!(answered, own, "and so have results");
    let events = stage.events.find(|event| match event {
        tinyagents::harness::event::AgentEvent::ToolRequested { tool_name, .. }
        | tinyagents::harness::event::AgentEvent::ToolStarted { tool_name, .. } => {
            Some(tool_name.to_string())
        }
        _ => None,
    });
    assert!(events.iter().all(|name| own.contains(&name.as_str())), "and events: {events:?}");
    assert!(events.len() > own.len());
    let requests = script.requests();
    let shown: Vec<_> = requests[0].tools.iter().skip(1).map(|tool| tool.name.clone()).collect();
    let again: Vec<_> = names.iter().map(|name| requests[1].shown_name(name).to_string()).collect();
    assert_eq!(again, shown, "past calls are shown by the same names");
    let told = stage.harness.explain(&SchemaDialect::for_provider(provider)).tools;
    let told: Vec<_> = told.into_iter().skip(1).map(|tool| tool.shown_as).collect();
    assert_eq!(told, shown, "what is explained is what is sent");
    shown
}

#[tokio::test]
async fn d42_a_name_that_a_provider_refuses_is_shown_as_an_alias() {
    let names = ["a.b", "files/read", "Größe", "9.x"];
    assert_eq!(shown_to("openai", &names, &[]).await, ["a_b", "files_read", "Gr__e", "9_x"]);
    assert_eq!(shown_to("mistral", &names, &[]).await, ["a_b", "files_read", "Gr__e", "9_x"]);
    assert_eq!(shown_to("gemini", &names, &[]).await, ["a.b", "files_read", "Gr__e", "_9.x"]);
    for free in ["llama.cpp", "llamacpp", "ollama", "vllm"] {
        assert_eq!(shown_to(free, &names, &[]).await, names);
    }
    assert_eq!(shown_to("google", &names, &[]).await, ["a.b", "files_read", "Gr__e", "_9.x"]);
    assert_eq!(shown_to("scripted", &names, &[]).await, ["a_b", "files_read", "Gr__e", "_9_x"]);
}

#[tokio::test]
async fn d41_an_over_long_name_is_cut_and_ends_in_a_stable_hash() {
    let long = format!("mcp__server__{}", "x".repeat(90));
    let other = format!("{long}y");
    let shown = shown_to("openai", &[&long, &other], &[]).await;
    for (name, shown) in [&long, &other].into_iter().zip(&shown) {
        assert_eq!((&shown[..55], shown.len()), (&name[..55], 64));
    }
    assert_ne!(shown[0], shown[1]);
    assert_eq!(&shown[0][55..], "_fc03bd51", "the hash is the same on every machine and in every version");
    assert_eq!(shown_to("anthropic", &[&long], &[]).await, [long.as_str()], "it fits where 128 are taken");
}

#[tokio::test]
async fn d42_collisions_are_told_apart_whatever_the_order() {
    let names = ["a.b", "a/b", "c.d", "c_d", "e.f"];
    let shown = shown_to("openai", &names, &[("e.f", "a_b")]).await;
    assert_eq!(shown[3], "c_d", "a name that fits is kept");
    assert_eq!(shown[4], "a_b", "and so is what the application chose");
    for (at, start) in [(0, "a_b_"), (1, "a_b_"), (2, "c_d_")] {
        assert!(shown[at].starts_with(start) && shown[at].len() == start.len() + 8, "{shown:?}");
    }
    let both = shown_to("openai", &["a.b", "a/b"], &[]).await;
    assert_eq!(
        both,
        shown[..2],
        "neither has the plain form, so that it never stands for another tool than before"
    );
    let mut reversed = shown_to("openai", &["e.f", "c_d", "c.d", "a/b", "a.b"], &[("e.f", "a_b")]).await;
    reversed.reverse();
    assert_eq!(reversed, shown);
}

#[test]
fn an_alias_that_its_provider_refuses_is_refused() {
    let mut registry = ToolRegistry::new();
    registry.register(named("one")).unwrap();
    let error = registry.alias("openai", "one", "o.n.e").unwrap_err();
    assert!(error.to_string().contains("write `o_n_e`"), "{error}");
    registry.alias("gemini", "one", "o.n.e").unwrap();
    registry.alias("llama.cpp", "one", "o n e").unwrap();
    registry.alias("my own", "one", "o.n.e").unwrap(); // nothing is known of that provider
}

#[tokio::test]
async fn hooks_see_the_tools_own_names() {
    use std::sync::{Arc, Mutex};
    #[derive(Default, Clone)]
    struct Look(Arc<Mutex<Vec<String>>>);
    #[tinyagents::async_trait]
    impl tinyagents::harness::middleware::Middleware<()> for Look {
        async fn after_model(
            &self,
            _: &tinyagents::harness::context::RunContext<()>,
            reply: &mut ModelReply,
        ) -> tinyagents::Result<()> {
            self.0.lock().unwrap().extend(reply.message.tool_calls.iter().map(|call| call.name.clone()));
            Ok(())
        }
    }
    let seen = Look::default();
    let mut stage = Stage::new(ScriptedModel::new().call("a_b", json!({})).text("done"));
    stage.harness.register_external(named("a.b")).unwrap();
    stage.harness.with_middleware(seen.clone());
    stage.run().await.unwrap();
    assert_eq!(*seen.0.lock().unwrap(), ["a.b"]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn d41_d42_every_tool_has_one_name_that_the_provider_takes(
        names in prop::collection::btree_set("[ab_]{0,2}[./:é-]?[ab_]{1,2}|[a.]{60,70}|[a-]{120,135}", 1..24),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        for rules in ProviderRules::all() {
            let provider: &'static str = match rules.provider { std::borrow::Cow::Borrowed(name) => name, _ => "" };
            let shown = runtime.block_on(shown_to(provider, &names, &[]));
            let takes = |name: &String| rules.wire.names.as_ref().is_none_or(|rule: &Spelling| rule.accepts(name));
            prop_assert!(shown.iter().all(takes), "{provider}: {shown:?}");
            let distinct: BTreeSet<_> = shown.iter().collect();
            prop_assert_eq!(distinct.len(), names.len());
            for (name, shown) in names.iter().zip(&shown) {
                prop_assert!(!takes(&(*name).to_string()) || name == shown, "{} is shown as {}", name, shown);
                prop_assert!(name == shown || !names.contains(&shown.as_str()), "{} is another tool", shown);
            }
        }
    }
}
