//! A type that is shown by a function must be read too

use tinyagents::prelude::*;

use tinyagents::schemars::{Schema, SchemaGenerator, json_schema};

struct Level(u8);

fn levels(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "integer" })
}

/// Take.
#[tool]
async fn take(#[arg(schema_with = levels)] level: Level) {
    println!("{}", level.0);
}

fn main() {}
