//! What is lent to an async function lives across its awaits, on whatever thread it goes on.

use tinyagents::prelude::*;
use tinyagents::testkit;

/// Slow.
#[tool]
async fn slow(text: &str, list: &[u8], #[inject] state: &String) -> String {
    let mut seen = 0;
    for n in list {
        tokio::task::yield_now().await;
        seen += usize::from(*n) + text.len();
    }
    format!("{state}{seen}")
}

#[tokio::main(flavor = "multi_thread", worker_threads = 1)]
async fn main() {
    let arguments = json!({ "text": "ab", "list": [1, 2] });
    let result = testkit::call(&Slow, &"s".to_string(), arguments).await.unwrap();
    assert_eq!(result.content, [ContentBlock::text("s7")]);
}
