//! Twenty parameters keep their order in the schema, in `PARAMETERS` and in the call.

use tinyagents::prelude::*;
use tinyagents::testkit;

/// Twenty.
#[tool]
#[rustfmt::skip]
async fn twenty(
    t: u8, s: u8, r: u8, q: u8, p: u8, o: u8, n: u8, m: u8, l: u8, k: u8,
    j: u8, i: u8, h: u8, g: u8, f: u8, e: u8, d: u8, c: u8, b: u8, a: u8,
) -> Vec<u8> {
    vec![t, s, r, q, p, o, n, m, l, k, j, i, h, g, f, e, d, c, b, a]
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let shown: Vec<_> = Twenty::spec().input_schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(shown, Twenty::PARAMETERS);
    assert_eq!(Twenty::PARAMETERS.concat(), "tsrqponmlkjihgfedcba");
    let arguments: Value = (b'a'..=b't').map(|name| (char::from(name).to_string(), json!(name - b'a'))).collect();
    let result = testkit::call(&Twenty, &(), arguments).await.unwrap();
    assert_eq!(result.value, Some((0..20).rev().collect()));
}
