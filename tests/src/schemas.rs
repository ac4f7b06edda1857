//! What a model may choose, and what it never sees.

use serde_json::{Value, json};
use tinyagents::harness::message::ToolCall;
use tinyagents::prelude::*;
use tinyagents::testkit::{self, ScriptedModel};

use crate::fixture::{Recorder, results};

/// What the tools below borrow from.
#[derive(Clone, ToolState)]
pub struct App {
    index: Index,
    secret: ApiClient,
}

/// A part of the state.
#[derive(Clone)]
pub struct Index(Vec<&'static str>);

/// Another part, with something that must stay hidden.
#[derive(Clone)]
pub struct ApiClient {
    key: &'static str,
}

const CANARY: &str = "sk-canary-5f1c";

fn app() -> App {
    App { index: Index(vec!["green tea", "black tea", "coffee"]), secret: ApiClient { key: CANARY } }
}

/// Search the index.
#[tool(read_only, timeout = "10s")]
async fn search(
    /// Words to look for.
    query: String,
    /// How many results to return.
    #[arg(default = 5)]
    limit: u32,
    #[inject] index: &Index,
    #[inject] cancel: CancellationToken,
) -> Vec<String> {
    assert!(!cancel.is_cancelled());
    index
        .0
        .iter()
        .filter(|entry| entry.contains(&query))
        .take(limit as usize)
        .map(ToString::to_string)
        .collect()
}

/// Use everything that can be injected.
#[tool(read_only)]
#[allow(clippy::too_many_arguments, reason = "one of each")]
async fn everything(
    /// The only thing the model chooses.
    q: String,
    #[inject] app: &App,
    #[inject] client: &ApiClient,
    #[inject] ctx: &RunContext,
    #[inject] run: RunId,
    #[inject] thread: Option<ThreadId>,
    #[inject] call: ToolCallId,
    #[inject] stores: StoreRegistry,
    #[inject] events: EventSink,
    #[inject] progress: Progress,
    #[inject] cancel: CancellationToken,
) -> Result<String, ToolError> {
    stores
        .get("calls")
        .put(call.as_str(), json!(q))
        .await
        .map_err(|error| ToolError::failed(error.to_string()))?;
    events.emit(AgentEvent::Custom { name: "everything".into(), data: json!(app.index.0.len()) });
    progress.report("half way");
    assert_eq!(ctx.run_id(), &run);
    assert_eq!(client.key, CANARY);
    Ok(format!("{q} {thread:?} {}", cancel.is_cancelled()))
}

fn properties(spec: &tinyagents::harness::tool::ToolSpec) -> Vec<&str> {
    spec.input_schema["properties"].as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn s02_s40_only_what_the_model_may_choose_is_in_the_schema() {
    assert_eq!(properties(Search::spec()), ["query", "limit"]);
    assert_eq!(properties(Everything::spec()), ["q"]);
    assert_eq!(
        Search::spec().input_schema,
        json!({
            "type": "object",
            "properties": {
                "query": { "type": "string", "description": "Words to look for." },
                "limit": {
                    "type": "integer", "minimum": 0, "maximum": 4294967295u32,
                    "description": "How many results to return.", "default": 5
                }
            },
            "required": ["query"],
            "additionalProperties": false
        })
    );
}

#[test]
fn s20_the_description_is_the_doc_comment() {
    assert_eq!(Search::spec().description, "Search the index.");
}

#[test]
fn s23_the_injected_parameters_are_listed_in_order() {
    let injected: Vec<_> =
        Search::spec().injected.iter().map(|arg| (arg.name.as_str(), arg.kind.as_str())).collect();
    assert_eq!(injected, [("index", "state"), ("cancel", "CancellationToken")]);
}

#[test]
fn s24_s25_the_policy_reaches_the_specification() {
    let spec = Search::spec();
    assert!(spec.safety.read_only);
    assert_eq!(spec.timeout, Some(std::time::Duration::from_secs(10)));
}

#[test]
fn s64_parameters_are_in_declared_order() {
    /// Order matters.
    #[tool]
    fn ordered(b: i64, a: i64, #[inject] run: RunId) -> String {
        format!("{b} {a} {run}")
    }
    assert_eq!(Ordered::PARAMETERS, ["b", "a"]);
    assert_eq!(Search::PARAMETERS, ["query", "limit"]);
}

#[test]
fn s06_s41_to_s48_nothing_injected_is_in_the_schema() {
    let text = serde_json::to_string(&Everything::spec().schema()).unwrap();
    for hidden in [
        "app",
        "client",
        "ctx",
        "run",
        "thread",
        "call",
        "stores",
        "events",
        "progress",
        "cancel",
        "RunContext",
        "RunId",
        "ThreadId",
        "ToolCallId",
        "StoreRegistry",
        "EventSink",
        "Progress",
        "CancellationToken",
        "ApiClient",
        "Index",
        CANARY,
    ] {
        assert!(!text.contains(&format!("\"{hidden}\"")), "{hidden} in {text}");
    }
}

#[tokio::test]
async fn s05_s49_the_request_has_the_schema_and_nothing_hidden() {
    let model = ScriptedModel::new().call("everything", json!({ "q": "tea" })).text("done");
    let events = Recorder::default();
    let mut harness: AgentHarness<App> = AgentHarness::new();
    harness.register_model("default", model.clone()).unwrap();
    harness.register_tool(Search).unwrap().register_tool(Everything).unwrap();
    harness.with_listener(events.listener());
    let stores = StoreRegistry::new();
    harness.with_stores(stores.clone());
    let run = harness.invoke(&app(), vec![Message::user("go")]).await.unwrap();

    let request = &model.requests()[0];
    assert_eq!(request.tools[0].parameters, Search::spec().input_schema);
    assert_eq!(request.tools[1].parameters, Everything::spec().input_schema);
    // s09: each injected value was usable; s10, s30: its events were heard.
    assert_eq!(run.messages[2].text(), "tea None false");
    assert_eq!(stores.get("calls").get("call_1").await.unwrap(), Some(json!("tea")));
    let mut kinds = events.kinds();
    kinds.retain(|kind| kind.starts_with("tool.") || *kind == "custom");
    let expected = [
        "tool.requested",
        "tool.decided",
        "tool.admitted",
        "tool.started",
        "custom",
        "tool.progress",
        "tool.completed",
    ];
    assert_eq!(kinds, expected);
    // The canary is nowhere a model, a log or a transcript could show it.
    let everywhere = format!(
        "{} {:?} {:?}",
        serde_json::to_string(&run.messages).unwrap(),
        model.requests(),
        events.records()
    );
    assert!(!everywhere.contains(CANARY));
}

#[tokio::test]
async fn a_forged_hidden_argument_is_refused_and_never_used() {
    for forged in ["index", "cancel", "app", "client", "run", "__proto__"] {
        let mut arguments = json!({ "query": "tea" });
        arguments[forged] = json!("forged");
        let result = testkit::call(&Search, &app(), arguments).await.unwrap();
        assert!(result.is_error);
        let text = format!("{:?}", result.content);
        assert!(text.contains(&format!("unknown argument `{forged}`")), "{text}");
    }
}

#[tokio::test]
async fn s07_wrong_arguments_do_not_reach_the_body() {
    for (arguments, problem) in [
        (json!({ "query": "tea", "limit": "x" }), "`limit`: expected integer, got string \\\"x\\\""),
        (
            json!({ "query": "tea", "limit": -1 }),
            "`limit`: expected a number between 0 and 4294967295, got -1",
        ),
        (json!({ "query": "tea", "limit": 4294967296u64 }), "got 4294967296"),
        (json!({ "query": "tea", "limit": 2.5 }), "`limit`: expected integer, got number 2.5"),
        (json!({ "limit": 1 }), "`query`: expected string, got nothing"),
        (json!(["tea"]), "the arguments: expected object, got array"),
        (json!("tea"), "the arguments: expected object, got string"),
    ] {
        let result = testkit::call(&Search, &app(), arguments.clone()).await.unwrap();
        assert!(result.is_error, "{arguments}");
        let text = format!("{:?}", result.content);
        assert!(text.contains(problem), "{text}");
        assert_eq!(result.elapsed, std::time::Duration::ZERO, "the body did not run");
    }
}

#[tokio::test]
async fn defaults_and_integral_floats_are_applied() {
    let found = |arguments: Value| async move {
        testkit::call(&Search, &app(), arguments).await.unwrap().value.unwrap().as_array().unwrap().len()
    };
    assert_eq!(found(json!({ "query": "tea" })).await, 2);
    assert_eq!(found(json!({ "query": "tea", "limit": 1 })).await, 1);
    assert_eq!(found(json!({ "query": "tea", "limit": 1.0 })).await, 1);
    assert_eq!(found(json!({ "query": "tea", "limit": null })).await, 2, "null is left out");
    assert!(
        testkit::call(&Search, &app(), json!({ "query": null })).await.unwrap().is_error,
        "unless required"
    );
}

#[test]
fn parameter_types_have_full_schemas() {
    #[derive(tinyagents::serde::Deserialize, tinyagents::schemars::JsonSchema)]
    #[serde(crate = "tinyagents::serde")]
    #[schemars(crate = "tinyagents::schemars")]
    #[allow(dead_code, reason = "only its schema is read")]
    struct Point {
        /// Across.
        x: f64,
        y: Option<i32>,
    }

    /// Take all kinds of parameters.
    #[tool]
    fn kinds(
        points: Vec<Point>,
        text: &str,
        maybe: Option<&str>,
        flag: Option<bool>,
        by_name: std::collections::HashMap<String, i64>,
        small: u8,
    ) -> String {
        format!("{} {text} {maybe:?} {flag:?} {} {small}", points.len(), by_name.len())
    }

    assert_eq!(
        Kinds::spec().input_schema,
        json!({
            "type": "object",
            "properties": {
                "points": { "type": "array", "items": {
                    "type": "object",
                    "properties": {
                        "x": { "description": "Across.", "type": "number" },
                        "y": { "type": "integer", "minimum": -2147483648, "maximum": 2147483647 }
                    },
                    "required": ["x"],
                    "additionalProperties": false
                } },
                "text": { "type": "string" },
                "maybe": { "type": "string" },
                "flag": { "type": "boolean" },
                "by_name": { "type": "object", "additionalProperties": { "type": "integer" } },
                "small": { "type": "integer", "minimum": 0, "maximum": 255 }
            },
            "required": ["points", "text", "by_name", "small"],
            "additionalProperties": false
        })
    );
}

#[tokio::test]
async fn a_tool_without_parameters_takes_every_spelling_of_nothing() {
    /// Say when it is.
    #[tool(read_only)]
    fn now() -> String {
        "noon".into()
    }

    assert_eq!(
        Now::spec().input_schema,
        json!({ "type": "object", "properties": {}, "additionalProperties": false })
    );
    for arguments in [json!({}), Value::Null] {
        assert!(!testkit::call(&Now, &(), arguments).await.unwrap().is_error);
    }
    let calls = ["", "  ", "null", "{}"].map(|raw| ToolCall::from_text("", "now", raw));
    let mut harness: AgentHarness<()> = AgentHarness::new();
    harness.register_model("default", ScriptedModel::new().calls(calls).text("done")).unwrap();
    harness.register_tool(Now).unwrap();
    let run = harness.invoke(&(), vec![Message::user("go")]).await.unwrap();
    assert!(results(&run.messages).iter().all(|result| result.text() == "noon"));
}
