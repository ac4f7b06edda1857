//! A number outside its type's range is an error that names the parameter; the body does not run.

use tinyagents::prelude::*;
use tinyagents::testkit;

/// A small number.
#[tool]
fn small(n: u8) -> u8 {
    n
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    for n in [json!(256), json!(-1), json!(1.5), json!(true), json!([1])] {
        let result = testkit::call(&Small, &(), json!({ "n": n })).await.unwrap();
        assert!(result.is_error && format!("{:?}", result.content).contains("`n`"), "{:?}", result.content);
    }
    assert_eq!(testkit::call(&Small, &(), json!({ "n": 255 })).await.unwrap().value, Some(json!(255)));
}
