//! A value that JSON does not have is the call's error, never an empty or a changed result.

use std::collections::HashMap;

use tinyagents::prelude::*;
use tinyagents::testkit;

/// A map by pairs.
#[tool]
fn by_pair() -> HashMap<(u8, u8), u8> {
    HashMap::from([((1, 2), 3)])
}

/// A map by numbers, which JSON writes as texts.
#[tool]
fn by_number() -> HashMap<u8, u8> {
    HashMap::from([(1, 2)])
}

/// No number.
#[tool]
fn not_a_number() -> f64 {
    f64::NAN
}

/// Too large a number.
#[tool]
async fn infinite() -> Result<f32, ToolError> {
    Ok(f32::INFINITY)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let by_pair = testkit::call(&ByPair, &(), json!({})).await.unwrap();
    assert!(by_pair.is_error && by_pair.value.is_none());
    let expected = "error: the tool's result has no JSON form: key must be a string";
    assert_eq!(by_pair.content, [ContentBlock::text(expected)]);
    assert_eq!(testkit::call(&ByNumber, &(), json!({})).await.unwrap().value, Some(json!({ "1": 2 })));
    for (result, name) in [
        (testkit::call(&NotANumber, &(), json!({})).await.unwrap(), "NaN"),
        (testkit::call(&Infinite, &(), json!({})).await.unwrap(), "inf"),
    ] {
        let expected = format!("error: the tool's result is {name}, which has no JSON form");
        assert_eq!(result.content, [ContentBlock::text(expected)]);
    }
}
