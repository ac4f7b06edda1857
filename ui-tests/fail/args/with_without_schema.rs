//! A type that is read by a function must be shown too

use tinyagents::prelude::*;

use tinyagents::serde::de::{Deserialize, Deserializer};

struct Level(u8);

fn level<'de, D: Deserializer<'de>>(value: D) -> Result<Level, D::Error> {
    u8::deserialize(value).map(Level)
}

/// Take.
#[tool]
async fn take(#[arg(with = level)] level: Level) {
    println!("{}", level.0);
}

fn main() {}
