//! Injected and chosen parameters may stand in any order; each gets its own value.

use tinyagents::prelude::*;
use tinyagents::testkit;

#[derive(Clone, ToolState)]
struct App {
    base: u32,
    name: String,
}

/// Mixed.
#[tool]
async fn mixed(#[inject] base: &u32, a: u32, #[inject] id: ToolCallId, b: u32, #[inject] name: &str_of::Name) -> String {
    format!("{} {} {id} {}", base + a, b, name.len())
}

mod str_of {
    pub type Name = String;
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    assert_eq!(Mixed::PARAMETERS, ["a", "b"]);
    let names: Vec<_> = Mixed::spec().injected.iter().map(|arg| arg.name.as_str()).collect();
    assert_eq!(names, ["base", "id", "name"]);
    let app = App { base: 40, name: "abc".into() };
    let result = testkit::call(&Mixed, &app, json!({ "b": 9, "a": 2 })).await.unwrap();
    assert_eq!(result.content, [ContentBlock::text("42 9 call_1 3")]);
}
