//! An optional parameter may be left out or be `null`; a required one may be neither.

use tinyagents::prelude::*;
use tinyagents::testkit;

/// Both kinds.
#[tool]
fn both_kinds(must: u8, may: Option<u8>, list: Option<Vec<u8>>) -> String {
    format!("{must} {may:?} {list:?}")
}

async fn text(arguments: Value) -> (bool, String) {
    let result = testkit::call(&BothKinds, &(), arguments).await.unwrap();
    (result.is_error, format!("{:?}", result.content))
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let schema = &BothKinds::spec().input_schema;
    assert_eq!(schema["required"], json!(["must"]));
    assert_eq!(schema["properties"]["list"]["type"], "array");
    for arguments in [json!({ "must": 1 }), json!({ "must": 1, "may": null, "list": null })] {
        let (failed, text) = text(arguments).await;
        assert!(!failed && text.contains("1 None None"), "{text}");
    }
    for arguments in [json!({}), json!({ "must": null }), json!(null)] {
        let (failed, text) = text(arguments).await;
        assert!(failed && text.contains("`must`"), "{text}");
    }
}
