//! A function that reads another type

use tinyagents::prelude::*;

use tinyagents::serde::de::{Deserialize, Deserializer};

fn level<'de, D: Deserializer<'de>>(value: D) -> Result<u8, D::Error> {
    u8::deserialize(value)
}

/// Take.
#[tool]
async fn take(#[arg(with = level)] level: u32) {
    println!("{level}");
}

fn main() {}
