//! The smallest tool: its whole specification.

use tinyagents::prelude::*;

/// Tells the time.
#[tool]
async fn now() -> u64 {
    0
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let schema = tinyagents::serde_json::to_value(Now::spec().schema()).unwrap();
    let expected = json!({
        "name": "now",
        "description": "Tells the time.",
        "parameters": { "type": "object", "properties": {}, "additionalProperties": false }
    });
    assert_eq!(schema, expected);
    assert_eq!(Now::PARAMETERS, [""; 0]);
    let copy = Now;
    let _ = (copy, Now);
    for arguments in [json!({}), json!(null)] {
        let result = tinyagents::testkit::call(&Now, &(), arguments).await.unwrap();
        assert_eq!(result.value, Some(json!(0)));
    }
}
