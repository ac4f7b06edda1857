//! The arguments of a call, and the one door from text to them.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

/// The arguments of a tool call: one immutable JSON value, shared by everything that reads it.
///
/// What was validated is what is shown, approved, executed and recorded. Dereferences to [`Value`] and
/// serialises as one.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Arguments(Arc<Value>);

impl Arguments {
    /// An empty object.
    pub fn empty() -> Self {
        Value::Object(Map::new()).into()
    }

    /// The arguments as an owned value.
    pub fn to_value(&self) -> Value {
        (*self.0).clone()
    }
}

impl Default for Arguments {
    fn default() -> Self {
        Self::empty()
    }
}

impl Deref for Arguments {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0
    }
}

impl From<Value> for Arguments {
    fn from(value: Value) -> Self {
        Self(Arc::new(value))
    }
}

impl PartialEq<Value> for Arguments {
    fn eq(&self, other: &Value) -> bool {
        *self.0 == *other
    }
}

impl fmt::Debug for Arguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

impl fmt::Display for Arguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&*self.0, f)
    }
}

/// Why a text could not be read as arguments. The message is written for the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentsError {
    /// The text ends in the middle of a value.
    #[error(
        "the arguments end in the middle of a JSON value (line {line}, column {column}); send the complete JSON object"
    )]
    Truncated {
        /// One-based line of the end.
        line: usize,
        /// One-based column of the end.
        column: usize,
    },
    /// The text is not JSON.
    #[error("the arguments are not valid JSON: {reason}; send one JSON object")]
    NotJson {
        /// What the parser found, with line and column.
        reason: String,
    },
}

/// Reads arguments from the text that a model wrote: the only door from text to [`Arguments`].
///
/// Blank text means no arguments and gives `{}`; anything else must be one JSON value. A key that stands twice
/// in one object with different values is refused, because either reading could be the wrong one.
///
/// # Errors
///
/// Says where the text stops being JSON. Malformed text never becomes `{}`.
///
/// ```
/// use tinyagents::harness::message::parse_arguments;
///
/// assert_eq!(parse_arguments(r#"{"city": "Paris"}"#)?["city"], "Paris");
/// assert_eq!(parse_arguments("  ")?, serde_json::json!({}));
/// assert!(parse_arguments(r#"{"city": "Par"#).is_err());
/// # Ok::<(), tinyagents::harness::message::ArgumentsError>(())
/// ```
pub fn parse_arguments(raw: &str) -> Result<Arguments, ArgumentsError> {
    if raw.trim().is_empty() {
        return Ok(Arguments::empty());
    }
    let mut deserializer = serde_json::Deserializer::from_str(raw);
    let value = UniqueKeys.deserialize(&mut deserializer).and_then(|value| {
        deserializer.end()?;
        Ok(value)
    });
    value.map(Arguments::from).map_err(|error| {
        if error.is_eof() {
            ArgumentsError::Truncated { line: error.line(), column: error.column() }
        } else {
            ArgumentsError::NotJson { reason: error.to_string() }
        }
    })
}

/// Builds a [`Value`] and refuses a key that appears twice with different values.
struct UniqueKeys;

impl<'de> DeserializeSeed<'de> for UniqueKeys {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for UniqueKeys {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number is out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut out = Vec::new();
        while let Some(item) = items.next_element_seed(UniqueKeys)? {
            out.push(item);
        }
        Ok(Value::Array(out))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut out = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let value = entries.next_value_seed(UniqueKeys)?;
            match out.get(&key) {
                Some(earlier) if *earlier != value => {
                    let message = format!("key `{key}` appears twice with different values");
                    return Err(serde::de::Error::custom(message));
                }
                Some(_) => {}
                None => drop(out.insert(key, value)),
            }
        }
        Ok(Value::Object(out))
    }
}
