//! A store handle is one namespace of the run's stores.

use tinyagents::harness::message::ToolCall;
use tinyagents::prelude::*;

/// Count a word.
#[tool]
async fn count(
    word: String,
    #[inject("counts")] counts: StoreHandle,
    #[inject("log")] log: StoreHandle,
) -> Result<u64, ToolError> {
    let before = counts.get(&word).await?.and_then(|value| value.as_u64()).unwrap_or_default();
    counts.put(&word, before + 1).await?;
    log.put("last", word).await?;
    assert_eq!((counts.namespace(), log.namespace()), ("counts", "log"));
    Ok(before + 1)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let kinds: Vec<_> = Count::spec().injected.iter().map(|arg| arg.kind.as_str()).collect();
    assert_eq!(kinds, ["StoreHandle(counts)", "StoreHandle(log)"]);
    let stores = StoreRegistry::new();
    let mut harness: AgentHarness<()> = AgentHarness::new();
    harness.register_tool(Count).unwrap().with_stores(stores.clone());
    for expected in [1, 2] {
        let call = ToolCall::new("c", "count", json!({ "word": "tea" }));
        let result = harness.call_tool(&(), RunContext::default(), call).await;
        assert_eq!(result.value, Some(json!(expected)));
    }
    assert_eq!(stores.handle("counts").scan("").await.unwrap(), [("tea".to_string(), json!(2))]);
    assert_eq!(stores.get("log").get("last").await.unwrap(), Some(json!("tea")));
    stores.handle("log").delete("last").await.unwrap();
    assert_eq!(stores.handle("log").get("last").await.unwrap(), None);
}
