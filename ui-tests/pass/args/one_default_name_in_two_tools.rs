//! Two tools of one module may have parameters of one name with different defaults.

use tinyagents::prelude::*;
use tinyagents::testkit;

/// First.
#[tool]
fn first(#[arg(default = 1)] limit: u8) -> u8 {
    limit
}

/// Second.
#[tool]
fn second(#[arg(default = "two")] limit: String) -> String {
    limit
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    assert_eq!(First::spec().input_schema["properties"]["limit"]["default"], 1);
    assert_eq!(Second::spec().input_schema["properties"]["limit"]["default"], "two");
    assert_eq!(testkit::call(&First, &(), json!({})).await.unwrap().value, Some(json!(1)));
    let result = testkit::call(&Second, &(), json!({})).await.unwrap();
    assert_eq!(result.content, [ContentBlock::text("two")]);
}
