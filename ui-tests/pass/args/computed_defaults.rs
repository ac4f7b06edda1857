//! A default is any expression of the parameter's type: a call, a constant of a type, a block.

use std::time::Duration;

use tinyagents::prelude::*;
use tinyagents::testkit;

struct Limits;

impl Limits {
    const MOST: u16 = 40;
}

fn half_of(n: u16) -> u16 {
    n / 2
}

/// Computed.
#[tool]
async fn computed(
    #[arg(default = half_of(Limits::MOST))] a: u16,
    #[arg(default = { let wait = Duration::from_secs(2); wait.as_millis() as u64 })] b: u64,
    #[arg(default = vec!["x".to_string()])] c: Vec<String>,
    #[arg(default = -1)] d: i8,
    #[arg(default = 'z')] e: char,
) -> String {
    format!("{a} {b} {c:?} {d} {e}")
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let properties = &Computed::spec().input_schema["properties"];
    let shown = ["a", "b", "c", "d", "e"].map(|name| properties[name]["default"].clone());
    assert_eq!(shown, [json!(20), json!(2000), json!(["x"]), json!(-1), json!("z")]);
    assert_eq!(Computed::spec().input_schema.get("required"), None);
    let result = testkit::call(&Computed, &(), json!({})).await.unwrap();
    assert_eq!(result.content, [ContentBlock::text(r#"20 2000 ["x"] -1 z"#)]);
}
