//! How calls are run, and what one call is, told from its arguments.

use tinyagents::harness::tool::ToolClass;
use tinyagents::prelude::*;
use tinyagents::serde_json::Value;

fn class(arguments: &Value) -> ToolClass {
    if arguments["dry_run"] == true { ToolClass::ReadOnly } else { ToolClass::Mutating }
}

mod keys {
    pub fn of(arguments: &super::Value) -> Vec<String> {
        vec![format!("delete {}", arguments["path"].as_str().unwrap_or_default())]
    }
}

/// Delete.
#[tool(writes_files, recursive, concurrency = 2, return_direct, polling, effect = class, grant_keys = keys::of)]
async fn delete(path: &str, dry_run: bool) -> String {
    format!("{path} {dry_run}")
}

/// Plain.
#[tool(read_only)]
fn plain(b: u8, a: u8) -> u8 {
    a + b
}

fn main() {
    let policy = Delete::policy();
    assert_eq!(policy.runtime.max_concurrency, Some(2));
    assert!(policy.runtime.return_direct && policy.runtime.polling);
    let delete: &dyn Tool<()> = &Delete;
    assert!(delete.is_recursive() && !delete.is_blocking());
    assert_eq!(delete.class(), ToolClass::Mutating);
    assert_eq!(delete.effect(&json!({ "path": "a", "dry_run": true })), ToolClass::ReadOnly);
    assert_eq!(delete.effect(&json!({ "path": "a", "dry_run": false })), ToolClass::Mutating);
    assert_eq!(delete.grant_keys(&json!({ "path": "a", "dry_run": false })), ["delete a"]);

    let policy = Plain::policy();
    assert_eq!(policy.runtime.max_concurrency, None);
    assert!(!policy.runtime.return_direct && !policy.runtime.polling);
    let plain: &dyn Tool<()> = &Plain;
    assert!(!plain.is_recursive() && plain.is_blocking());
    assert_eq!(plain.effect(&json!({})), ToolClass::ReadOnly);
    let keys = plain.grant_keys(&json!({ "b": { "z": 1, "y": [{ "d": 1, "c": 2 }] }, "a": 2 }));
    assert_eq!(keys, [r#"{"a":2,"b":{"y":[{"c":2,"d":1}],"z":1}}"#]);
    assert_eq!(plain.grant_keys(&json!({ "a": 1, "b": 2 })), plain.grant_keys(&json!({ "b": 2, "a": 1 })));
}
