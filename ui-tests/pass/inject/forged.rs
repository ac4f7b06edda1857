//! A model that sends the name of a hidden parameter is refused, whatever it sends.

use tinyagents::prelude::*;
use tinyagents::testkit;

/// Reads the secret's length.
#[tool(read_only)]
fn peek(at: usize, #[inject] vault: &String, #[inject] id: ToolCallId) -> String {
    format!("{id}{}", vault.len() + at)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let vault = "s3cret".to_string();
    for forged in [json!({ "at": 1, "vault": "" }), json!({ "at": 1, "id": null }), json!({ "at": 1, "Vault": {} })] {
        let result = testkit::call(&Peek, &vault, forged).await.unwrap();
        assert!(result.is_error && !format!("{:?}", result.content).contains("s3cret"));
    }
    let result = testkit::call(&Peek, &vault, json!({ "at": 1 })).await.unwrap();
    assert_eq!(result.content, [ContentBlock::text("call_17")]);
}
