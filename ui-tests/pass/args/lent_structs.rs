//! A struct is read once and lent, alone, in lists and in options.

use tinyagents::prelude::*;
use tinyagents::{schemars::JsonSchema, serde::Deserialize, testkit};

#[derive(Deserialize, JsonSchema)]
#[serde(crate = "tinyagents::serde", deny_unknown_fields)]
#[schemars(crate = "tinyagents::schemars")]
struct Point {
    /// To the right.
    x: i32,
    #[serde(default)]
    y: i32,
}

/// The sum of all.
#[tool]
async fn sum_points(one: &Point, list: &[Point], maybe: Option<&Point>) -> i32 {
    let sum = |point: &Point| point.x + point.y;
    sum(one) + list.iter().map(sum).sum::<i32>() + maybe.map_or(0, sum)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let properties = &SumPoints::spec().input_schema["properties"];
    assert_eq!(properties["one"]["additionalProperties"], false);
    assert_eq!(properties["one"]["properties"]["x"]["description"], "To the right.");
    assert_eq!(properties["list"]["items"]["required"], json!(["x"]));
    assert_eq!(SumPoints::spec().input_schema["required"], json!(["one", "list"]));
    let arguments = json!({ "one": { "x": 1 }, "list": [{ "x": 2, "y": 3 }] });
    assert_eq!(testkit::call(&SumPoints, &(), arguments).await.unwrap().value, Some(json!(6)));
    let arguments = json!({ "one": { "x": 1, "z": 1 }, "list": [] });
    assert!(testkit::call(&SumPoints, &(), arguments).await.unwrap().is_error);
}
