//! The arguments of a call, and the one door from text to them.

mod surrogates;

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, LazyLock};

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Number, Value};

use super::quoted;

/// The arguments of a tool call: one immutable JSON value, shared by everything that reads it.
///
/// What was validated is what is shown, approved, executed and recorded. Dereferences to [`Value`] and
/// serialises as one.
#[derive(Clone)]
pub struct Arguments {
    value: Arc<Value>,
    /// Whether the text held half of a surrogate pair.
    lone_surrogate: bool,
}

impl Arguments {
    /// An empty object.
    pub fn empty() -> Self {
        Value::Object(Map::new()).into()
    }

    /// The arguments as an owned value.
    pub fn to_value(&self) -> Value {
        (*self.value).clone()
    }

    /// Whether their text held a lone surrogate, which became U+FFFD. Known of what [`parse_arguments`] read, and not
    /// part of the value.
    pub fn had_lone_surrogate(&self) -> bool {
        self.lone_surrogate
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
        &self.value
    }
}

impl From<Value> for Arguments {
    fn from(value: Value) -> Self {
        Self { value: Arc::new(value), lone_surrogate: false }
    }
}

impl PartialEq for Arguments {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Serialize for Arguments {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Arguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::from)
    }
}

impl PartialEq<Value> for Arguments {
    fn eq(&self, other: &Value) -> bool {
        *self.value == *other
    }
}

impl fmt::Debug for Arguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.value, f)
    }
}

impl fmt::Display for Arguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&*self.value, f)
    }
}

/// Why a text could not be read as arguments. The message is written for the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentsError {
    /// The text ends in the middle of a value.
    #[error(
        "the arguments end in the middle of a JSON value (line {line}, column {column}), so they are truncated: send a \
         smaller payload, as one complete JSON object"
    )]
    Truncated {
        /// One-based line of the end.
        line: usize,
        /// One-based column of the end.
        column: usize,
    },
    /// The text is more than one JSON value.
    #[error(
        "the arguments are followed by more text (line {line}, column {column}); send one JSON object, and make further \
         calls as calls of their own"
    )]
    MoreThanOne {
        /// One-based line where the text goes on.
        line: usize,
        /// One-based column where the text goes on.
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
/// in one object with different values is refused, because either reading could be the wrong one; so are several
/// values after one another. The escape of a lone surrogate, such as `\ud83c` without its other half, stands for no
/// character and is read as U+FFFD. A number that is no integer of 64 bits is the float nearest to it. Nothing else in
/// the text is changed.
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
/// assert_eq!(parse_arguments("74655.82085083252550259")?, serde_json::json!(74655.82085083252));
/// assert!(parse_arguments(r#"{"city": "Par"#).is_err());
/// # Ok::<(), tinyagents::harness::message::ArgumentsError>(())
/// ```
pub fn parse_arguments(raw: &str) -> Result<Arguments, ArgumentsError> {
    if raw.trim().is_empty() {
        return Ok(Arguments::empty());
    }
    let error = match read(raw) {
        Ok(value) => return Ok(value.into()),
        Err(error) => error,
    };
    // The parser stops at a lone surrogate, whose error has no kind of its own.
    if let Some(text) = surrogates::replaced(raw) {
        let value = read(&text)?;
        return Ok(Arguments { value: Arc::new(value), lone_surrogate: true });
    }
    Err(error)
}

fn read(text: &str) -> Result<Value, ArgumentsError> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value =
        UniqueKeys.deserialize(&mut deserializer).map_err(|error| match (error.line(), error.column()) {
            (line, column) if error.is_eof() => ArgumentsError::Truncated { line, column },
            _ => ArgumentsError::NotJson { reason: error.to_string() },
        })?;
    match deserializer.end() {
        Ok(()) => Ok(value),
        Err(error) => Err(ArgumentsError::MoreThanOne { line: error.line(), column: error.column() }),
    }
}

/// Where some crate of the program switches on `arbitrary_precision` of serde_json, which holds for all of them, a
/// number with a fraction, or one beyond 64 bits, is handed out as an object of its text under this key.
const NUMBER_KEY: &str = "$serde_json::private::Number";
static NUMBERS_ARE_TEXT: LazyLock<bool> =
    LazyLock::new(|| serde_json::from_str::<Number>("1.00").is_ok_and(|number| number.to_string() == "1.00"));

/// A number as it is read without that feature.
fn number<E: serde::de::Error>(text: &str) -> Result<Value, E> {
    let whole = text.parse::<u64>().map(Number::from).or_else(|_| text.parse::<i64>().map(Number::from));
    let number = whole.ok().or_else(|| Number::from_f64(text.parse().ok()?));
    number.map(Value::Number).ok_or_else(|| E::custom("a number is out of range"))
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
            if out.is_empty() && key == NUMBER_KEY && *NUMBERS_ARE_TEXT {
                return number(&entries.next_value::<String>()?);
            }
            let value = entries.next_value_seed(UniqueKeys)?;
            match out.get(&key) {
                Some(earlier) if *earlier != value => {
                    let message = format!("key `{}` appears twice with different values", quoted(&key, 60));
                    return Err(serde::de::Error::custom(message));
                }
                Some(_) => {}
                None => drop(out.insert(key, value)),
            }
        }
        Ok(Value::Object(out))
    }
}
