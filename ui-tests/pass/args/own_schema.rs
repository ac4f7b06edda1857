//! A type that writes its own schema and its own reading is a parameter like any other.

use std::borrow::Cow;

use tinyagents::prelude::*;
use tinyagents::schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use tinyagents::serde::{Deserialize, Deserializer};
use tinyagents::testkit;

struct Even(u32);

impl JsonSchema for Even {
    fn schema_name() -> Cow<'static, str> {
        "Even".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "multipleOf": 2 })
    }
}

impl<'de> Deserialize<'de> for Even {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u32::deserialize(deserializer)? {
            n if n % 2 == 0 => Ok(Self(n)),
            n => Err(tinyagents::serde::de::Error::custom(format!("{n} is odd"))),
        }
    }
}

/// Half of it.
#[tool]
fn half(n: Even) -> u32 {
    n.0 / 2
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    assert_eq!(Half::spec().input_schema["properties"]["n"], json!({ "type": "integer", "multipleOf": 2 }));
    assert_eq!(testkit::call(&Half, &(), json!({ "n": 8 })).await.unwrap().value, Some(json!(4)));
    assert!(testkit::call(&Half, &(), json!({ "n": 7 })).await.unwrap().is_error);
}
