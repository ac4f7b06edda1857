//! Names, duplicates and aliases of tools.

use serde_json::json;
use tinyagents::TinyAgentsError;
use tinyagents::harness::message::ToolCall;
use tinyagents::harness::policy::ToolPolicy;
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
