//! Artifacts are kept under the call's own keys, and listed in its result.

use tinyagents::harness::message::ToolCall;
use tinyagents::harness::store::MemoryArtifacts;
use tinyagents::prelude::*;

/// Draw a picture.
#[tool]
async fn draw(#[inject] artifacts: Artifacts) -> Result<String, ToolError> {
    assert_eq!(artifacts.get("a.svg").await?, None);
    let kept = artifacts.put("a.svg", "image/svg+xml", "<svg/>").await?;
    artifacts.put("pages/1", "text/plain", vec![b'1', b'2']).await?;
    assert_eq!(artifacts.get("a.svg").await?.as_deref(), Some(&b"<svg/>"[..]));
    for outside in ["", "../0", "/etc/passwd", "a//b", "a/..", ".", "a\\..\\b"] {
        assert!(artifacts.put(outside, "text/plain", "x").await.is_err(), "{outside}");
    }
    Ok(kept.key)
}

/// Draw one if it can be kept.
#[tool]
fn draw_perhaps(#[inject] artifacts: Option<Artifacts>) -> bool {
    artifacts.is_some()
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let kinds: Vec<_> = [Draw::spec(), DrawPerhaps::spec()].map(|spec| spec.injected[0].kind.as_str()).into();
    assert_eq!(kinds, ["Artifacts", "Artifacts"]);
    let mut harness: AgentHarness<()> = AgentHarness::new();
    harness.register_tool(Draw).unwrap().register_tool(DrawPerhaps).unwrap();
    let context = || RunContext::new(RunConfig { run_id: Some("r".into()), ..RunConfig::default() }, ());
    let call = |name: &str| ToolCall::new("c", name, json!({}));

    let without = harness.call_tool(&(), context(), call("draw")).await;
    assert!(without.is_error);
    assert!(format!("{:?}", without.content).contains("`StoreRegistry::with_artifacts`"));
    assert_eq!(harness.call_tool(&(), context(), call("draw_perhaps")).await.value, Some(json!(false)));

    harness.with_stores(StoreRegistry::new().with_artifacts(MemoryArtifacts::default()));
    let drawn = harness.call_tool(&(), context(), call("draw")).await;
    assert_eq!(drawn.content, [ContentBlock::text("r/0/0/a.svg")]);
    let kept: Vec<_> = drawn.artifacts.iter().map(|artifact| (&*artifact.key, artifact.bytes)).collect();
    assert_eq!(kept, [("r/0/0/a.svg", 6), ("r/0/0/pages/1", 2)]);
    assert_eq!(harness.call_tool(&(), context(), call("draw_perhaps")).await.value, Some(json!(true)));
}
