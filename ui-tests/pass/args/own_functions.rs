//! `with` reads a value and `schema_with` shows it, for types that can do only one of the two, or neither.

use std::time::Duration;

use tinyagents::prelude::*;
use tinyagents::schemars::{Schema, SchemaGenerator, json_schema};
use tinyagents::serde::de::{Deserialize, Deserializer, Error};
use tinyagents::testkit;

/// Nothing is derived.
#[derive(Debug, PartialEq)]
struct Level(u8);

fn level<'de, D: Deserializer<'de>>(value: D) -> Result<Level, D::Error> {
    match String::deserialize(value)?.as_str() {
        "low" => Ok(Level(1)),
        "high" => Ok(Level(2)),
        other => Err(D::Error::custom(format!("{other} is no level"))),
    }
}

fn levels(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": ["low", "high", "top"] })
}

fn seconds<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Duration>, D::Error> {
    u64::deserialize(value).map(|seconds| Some(Duration::from_secs(seconds)))
}

fn whole_seconds(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "integer", "minimum": 0 })
}

fn upper<'de, D: Deserializer<'de>>(value: D) -> Result<String, D::Error> {
    String::deserialize(value).map(|text| text.to_uppercase())
}

fn a_word(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "pattern": "^[a-z]+$" })
}

/// Own functions.
#[tool]
async fn own(
    #[arg(with = level, schema_with = levels, default = Level(1))] level: &Level,
    #[arg(with = self::seconds, schema_with = whole_seconds)] wait: Option<Duration>,
    #[arg(with = upper, len = 1..)] name: &str,
    #[arg(schema_with = a_word)] word: Option<String>,
) -> String {
    format!("{level:?} {wait:?} {name} {word:?}")
}

impl tinyagents::serde::Serialize for Level {
    fn serialize<S: tinyagents::serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(if self.0 == 1 { "low" } else { "high" })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let schema = &Own::spec().input_schema;
    assert_eq!(schema["required"], json!(["name"]));
    assert_eq!(
        schema["properties"]["level"],
        json!({ "type": "string", "enum": ["low", "high", "top"], "default": "low" })
    );
    assert_eq!(schema["properties"]["wait"], json!({ "type": "integer", "minimum": 0 }));
    assert_eq!(schema["properties"]["name"], json!({ "type": "string", "minLength": 1 }));
    assert_eq!(schema["properties"]["word"]["pattern"], "^[a-z]+$");

    let given = json!({ "level": "high", "wait": 2, "name": "ada", "word": "x" });
    let result = testkit::call(&Own, &(), given).await.unwrap();
    assert_eq!(result.content, [ContentBlock::text("Level(2) Some(2s) ADA Some(\"x\")")]);
    let result = testkit::call(&Own, &(), json!({ "name": "ada" })).await.unwrap();
    assert_eq!(result.content, [ContentBlock::text("Level(1) None ADA None")]);
    let result = testkit::call(&Own, &(), json!({ "name": "ada", "level": "top" })).await.unwrap();
    let [ContentBlock::Text { text }] = &result.content[..] else { panic!("{result:?}") };
    let told = "- `level`: expected another value, got string \"top\" (top is no level)\n";
    assert!(text.contains(told), "{text}");
}
