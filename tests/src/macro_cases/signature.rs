//! What stands in the attribute and in the signature.

use futures_util::{StreamExt, stream};
use serde_json::json;
use tinyagents::harness::tool::{ToolRuntime, ToolSpec};
use tinyagents::prelude::*;
use tinyagents::testkit::{self, ScriptedModel};

/// Double every number, four at a time.
#[tool]
async fn buffered(numbers: Vec<u32>) -> Vec<u32> {
    stream::iter(numbers).map(|n| async move { n * 2 }).buffered(4).collect().await
}

/// Double every number, in any order.
#[tool]
async fn unordered(numbers: &[u32]) -> u32 {
    let doubled = stream::iter(numbers.iter().copied()).map(|n| async move { n * 2 }).buffer_unordered(4);
    doubled.collect::<Vec<u32>>().await.into_iter().sum()
}

#[tokio::test]
async fn m04_a_body_may_buffer_a_stream_of_owned_items() {
    let arguments = json!({ "numbers": [1, 2, 3, 4, 5] });
    let result = testkit::call(&Buffered, &(), arguments.clone()).await.unwrap();
    assert_eq!(result.value, Some(json!([2, 4, 6, 8, 10])));
    assert_eq!(testkit::call(&Unordered, &(), arguments).await.unwrap().value, Some(json!(30)));
}

#[cfg(any())]
#[tool]
async fn missing(no: SuchType) -> Nothing {}

/// Not there either.
#[tool]
#[cfg(any())]
async fn missing(no: SuchType) -> Nothing {}

/// Only now.
#[tool]
#[cfg(not(any()))]
async fn missing(#[cfg(any())] no: SuchType, #[cfg(not(any()))] yes: bool) -> bool {
    yes
}

#[test]
fn m12_a_tool_and_a_parameter_may_be_left_out_by_a_condition() {
    assert_eq!(Missing::PARAMETERS, ["yes"]);
}

/// Search.
#[tool(read_only)]
async fn search(query: String) -> String {
    query
}

/// A generated tool with another name, description, policy and schema.
struct Renamed;

#[tinyagents::async_trait]
impl Tool<()> for Renamed {
    fn spec(&self) -> ToolSpec {
        let mut spec = Search::spec().clone();
        spec.name = tinyagents::harness::tool::ToolName::new("find").unwrap();
        spec.description = "Find.".into();
        spec.output_schema = Some(json!({ "type": "string" }).into());
        spec
    }

    async fn call(
        &self,
        state: &(),
        runtime: ToolRuntime<'_>,
        call: tinyagents::harness::message::ToolCall,
    ) -> tinyagents::Result<ToolResult> {
        Search.call(state, runtime, call).await
    }

    fn policy(&self) -> ToolPolicy {
        let mut policy = Search::policy();
        policy.access.approval_required = true;
        policy
    }
}

#[test]
fn m13_every_field_of_a_generated_tool_can_be_replaced() {
    let mut registry: ToolRegistry<()> = ToolRegistry::new();
    registry.register(Search).unwrap();
    registry.register(Renamed).unwrap();
    let spec = registry.spec("find").unwrap();
    assert_eq!(spec.description, "Find.");
    assert_eq!(spec.output_schema.as_deref(), Some(&json!({ "type": "string" })));
    assert!(
        spec.safety.requires_confirmation && !registry.spec("search").unwrap().safety.requires_confirmation
    );
}

#[tokio::test]
async fn m28_a_tool_has_another_name_for_one_provider() {
    let model = ScriptedModel::new().call("Search.v2", json!({ "query": "q" })).text("done");
    let provider = tinyagents::harness::model::Model::provider(&model).to_string();
    let mut harness: AgentHarness<()> = AgentHarness::new();
    harness.register_model("default", model.clone()).unwrap().register_tool(Search).unwrap();
    harness.alias_tool(&provider, "search", "Search.v2").unwrap();
    let run = harness.invoke(&(), vec![Message::user("go")]).await.unwrap();
    assert_eq!(model.requests()[0].tools[0].name, "Search.v2");
    assert_eq!(run.messages[2].text(), "q");
}

/// Take words.
#[tool]
async fn r#match(r#type: String, r#fn: Option<u8>) -> String {
    format!("{}{:?}", r#type, r#fn)
}

#[tokio::test]
async fn m47_keywords_are_names_without_their_prefix() {
    assert_eq!((Match::NAME, Match::PARAMETERS), ("match", &["type", "fn"][..]));
    let result = testkit::call(&Match, &(), json!({ "type": "t", "fn": 1 })).await.unwrap();
    assert_eq!(result.content, [ContentBlock::text("tSome(1)")]);
}

/// One letter.
#[tool]
async fn f() {}

macro_rules! made {
    ($name:ident, $param:ident: $ty:ty) => {
        /// Made.
        #[tool]
        async fn $name($param: $ty, extra: Option<$ty>) -> bool {
            $param == extra.unwrap_or_default()
        }
    };
}

made!(compare, left: String);

#[test]
fn more_short_names_and_tools_made_by_macros() {
    assert_eq!(F::NAME, "f");
    assert_eq!(Compare::PARAMETERS, ["left", "extra"]);
    assert_eq!(Compare::spec().input_schema["required"], json!(["left"]));
}

type Maybe<T> = Option<T>;
type Out<T> = Result<T, std::num::ParseIntError>;

/// Aliases.
#[tool]
fn aliased(text: Maybe<String>) -> Out<Maybe<u8>> {
    text.map(|text| text.parse()).transpose()
}

#[tokio::test]
async fn more_aliases_are_what_they_name() {
    assert_eq!(Aliased::spec().input_schema.get("required"), None);
    assert_eq!(Aliased::spec().input_schema["properties"]["text"], json!({ "type": "string" }));
    assert_eq!(testkit::call(&Aliased, &(), json!({ "text": "7" })).await.unwrap().value, Some(json!(7)));
    assert!(testkit::call(&Aliased, &(), json!({ "text": "x" })).await.unwrap().is_error);
}

/// Delete, once or again.
#[tool(idempotent, destructive)]
fn delete() {}

#[test]
fn more_a_deletion_may_be_idempotent_and_is_no_reader() {
    assert!(Delete::policy().runtime.idempotent && Delete::policy().side_effects.destructive);
    assert!(!Delete::policy().is_read_only());
}

/// First.
#[tool]
fn first(#[arg(default = 3)] limit: u8) -> u8 {
    limit
}

/// Second.
#[tool]
fn second(#[arg(default = "all")] limit: String) -> String {
    limit
}

#[test]
fn more_two_tools_may_default_one_name() {
    assert_eq!(First::spec().input_schema["properties"]["limit"]["default"], 3);
    assert_eq!(Second::spec().input_schema["properties"]["limit"]["default"], "all");
}
