//! Numbers, compared exactly.

use std::cmp::Ordering;
use std::fmt;

use serde_json::{Number, Value};

use super::check::MAX_LEVELS;

/// What a type of numbers holds, where a schema does not say so: a bound beyond 32 bits would be a number that many
/// readers of JSON cannot hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Width {
    /// A signed integer of 64 bits.
    Signed,
    /// An unsigned integer of 64 bits.
    Unsigned,
}

impl Width {
    #[inline]
    pub(super) fn holds(self, number: &Number) -> bool {
        match self {
            Self::Signed => number.is_i64() || number.is_f64(),
            Self::Unsigned => number.is_u64() || number.is_f64(),
        }
    }
}

impl fmt::Display for Width {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Signed => write!(f, "a number between {} and {}", i64::MIN, i64::MAX),
            Self::Unsigned => write!(f, "a number between 0 and {}", u64::MAX),
        }
    }
}

/// Compares numbers exactly, an integer with a float as well.
pub(super) fn compare(a: &Number, b: &Number) -> Option<Ordering> {
    match (integer(a), integer(b)) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        (Some(a), None) => with_float(a, b.as_f64()?),
        (None, Some(b)) => with_float(b, a.as_f64()?).map(Ordering::reverse),
        (None, None) => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}

fn with_float(integer: i128, float: f64) -> Option<Ordering> {
    const BEYOND: f64 = 36_893_488_147_419_103_232.0; // 2^65: no integer of JSON's 64 bits reaches it
    if float.abs() >= BEYOND {
        return 0.0.partial_cmp(&float);
    }
    #[expect(clippy::cast_possible_truncation, reason = "below 2^65, and without a fraction")]
    let whole = float.trunc() as i128;
    Some(integer.cmp(&whole).then(0.0.partial_cmp(&float.fract())?))
}

fn integer(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

/// Whether a number is an integer that can be read as one: `5.0` is one in JSON Schema. A literal beyond 64 bits is
/// rounded when it is parsed, so it is none.
#[inline]
pub(super) fn is_integral(number: &Number) -> bool {
    !number.is_f64() || super::canonical::integral(number).is_some()
}

/// A count, also if it is spelt `2.0`.
pub(super) fn whole(number: &Number) -> Option<u64> {
    let spelt_with_point = || u64::try_from(super::canonical::integral(number)?).ok();
    number.as_u64().or_else(spelt_with_point)
}

/// Equality as JSON Schema has it: by number, not by spelling, and without regard to the order of keys.
pub(super) fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => compare(a, b) == Some(Ordering::Equal),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| equal(a, b)))
        }
        _ => a == b,
    }
}

/// How many values a value is made of; `usize::MAX` if it is nested deeper than anything that is checked.
pub(super) fn size(value: &Value) -> usize {
    fn walk(value: &Value, levels: u32) -> usize {
        let Some(levels) = levels.checked_sub(1) else { return usize::MAX };
        let add = |sum: usize, value| sum.saturating_add(walk(value, levels));
        match value {
            Value::Array(items) => items.iter().fold(1, add),
            Value::Object(entries) => entries.values().fold(1, add),
            _ => 1,
        }
    }
    walk(value, MAX_LEVELS)
}
