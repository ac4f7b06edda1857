//! An integral float is an integer; anything that would lose something is an error.

use tinyagents::prelude::*;
use tinyagents::testkit;

/// Whole numbers.
#[tool]
fn whole(n: i64) -> i64 {
    n
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    for (given, expected) in [(json!(5.0), 5), (json!(-2.0), -2), (json!(900000.0), 900_000)] {
        let result = testkit::call(&Whole, &(), json!({ "n": given })).await.unwrap();
        assert_eq!(result.value, Some(json!(expected)));
    }
    for given in [json!(5.5), json!(""), json!("5x"), json!(1e300)] {
        assert!(testkit::call(&Whole, &(), json!({ "n": given })).await.unwrap().is_error, "{given}");
    }
}
