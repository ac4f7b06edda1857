//! `default` alone needs a type that has one.

use tinyagents::prelude::*;
use tinyagents::{schemars::JsonSchema, serde::Deserialize, serde::Serialize};

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(crate = "tinyagents::serde")]
#[schemars(crate = "tinyagents::schemars")]
struct Point {
    x: u8,
}

/// Does a thing.
#[tool]
fn take(#[arg(default)] point: Point) -> u8 {
    point.x
}

fn main() {}
