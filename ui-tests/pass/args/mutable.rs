//! `mut` before a name is the function's own matter, and a leading `_` is a part of the name.

use tinyagents::prelude::*;
use tinyagents::testkit;

/// Sorted.
#[tool]
async fn sorted(mut list: Vec<u8>, mut times: u8, _unused: Option<bool>) -> Vec<u8> {
    while times > 0 {
        list.sort_unstable();
        times -= 1;
    }
    list
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    assert_eq!(Sorted::PARAMETERS, ["list", "times", "_unused"]);
    let result = testkit::call(&Sorted, &(), json!({ "list": [3, 1, 2], "times": 1 })).await.unwrap();
    assert_eq!(result.value, Some(json!([1, 2, 3])));
}
