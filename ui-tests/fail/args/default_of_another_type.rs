//! A default, or a function that reads, of another type is the error, where it is written.

use tinyagents::prelude::*;
use tinyagents::serde::de::{Deserialize, Deserializer};

fn level<'de, D: Deserializer<'de>>(value: D) -> Result<u8, D::Error> {
    u8::deserialize(value)
}

/// Take.
#[tool]
async fn take(#[arg(default = 7, range = 1..)] number: Option<i64>, #[arg(with = level)] level: u32) {
    println!("{number:?} {level}");
}

fn main() {}
