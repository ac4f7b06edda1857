//! Without a word of the policy a tool is unclassified; `name` and the like are no such words.

use tinyagents::harness::policy::ToolPolicy;
use tinyagents::prelude::*;

/// Nothing declared.
#[tool]
async fn plain() {}

/// Nothing declared that says what it does.
#[tool(name = "other", format = "xml", inline)]
fn named() {}

/// One word is enough.
#[tool(cancelable)]
async fn declared() {}

fn main() {
    assert_eq!(Plain::policy(), ToolPolicy::default());
    assert_eq!(Named::policy(), ToolPolicy::default());
    assert!(!Plain::policy().classified);
    assert!(Declared::policy().classified && Declared::policy().runtime.cancelable);
    assert!(!Declared::policy().is_read_only());
}
