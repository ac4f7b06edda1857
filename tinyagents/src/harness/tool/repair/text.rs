//! What a text means where the schema wants something else, or one of a few texts.

use serde_json::{Number, Value};

use super::unwrapped;
use crate::harness::event::RepairRule;
use crate::harness::tool::validate::Shape;

/// A name without what models get wrong in names: case, blanks around it, `-` and `_`.
pub(crate) fn folded(name: &str) -> String {
    let kept = name.trim().chars().filter(|c| !matches!(c, '-' | '_'));
    kept.flat_map(char::to_lowercase).collect()
}

/// The value that a text stands for, where the schema does not take a text.
pub(super) fn read(shape: Shape<'_>, text: &str) -> Option<(Value, RepairRule)> {
    let text = text.trim();
    if let Some(value) = unwrapped(shape, text) {
        return Some((value, RepairRule::Unwrapped));
    }
    let number = shape.names_type_of(&0.5.into());
    let integer = number || shape.names_type_of(&1.into());
    if let Some(integer) = integer.then(|| whole(text)).flatten() {
        return Some((integer.into(), if number { RepairRule::Number } else { RepairRule::Integer }));
    }
    if let Some(number) = number.then(|| decimal(text)).flatten() {
        return Some((number.into(), RepairRule::Number));
    }
    let boolean = shape.names_type_of(&Value::Bool(true));
    match text.to_ascii_lowercase().as_str() {
        "true" if boolean => Some((true.into(), RepairRule::Boolean)),
        "false" if boolean => Some((false.into(), RepairRule::Boolean)),
        "null" | "none" if shape.names_type_of(&Value::Null) => Some((Value::Null, RepairRule::NullText)),
        _ => None,
    }
}

/// Whether a value is a text that looks like `null`.
pub(super) fn is_like_null(value: &Value) -> bool {
    value.as_str().is_some_and(|text| matches!(text.trim(), "null" | "None"))
}

/// The one allowed value that a text spells in another way.
pub(super) fn allowed<'v>(shape: Shape<'v>, text: &str) -> Option<&'v str> {
    let allowed = shape.allowed();
    if allowed.iter().any(|value| value == text) {
        return None;
    }
    let spelt = |text: &str| text.trim().to_lowercase().replace('-', "_");
    let wanted = spelt(text);
    let mut same = allowed.iter().filter_map(Value::as_str).filter(|value| spelt(value) == wanted);
    match (same.next(), same.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    }
}

/// An integer, exactly; also one that is spelt with a fraction of zeros.
fn whole(text: &str) -> Option<Number> {
    let digits = match text.split_once('.') {
        Some((digits, zeros)) if !zeros.is_empty() && zeros.bytes().all(|byte| byte == b'0') => digits,
        Some(_) => return None,
        None => text,
    };
    let number: Number = serde_json::from_str(digits).ok()?;
    // One beyond 64 bits, or with an exponent, is no integer that every reader holds.
    (number.is_i64() || number.is_u64()).then_some(number)
}

/// A number as JSON spells it. An integer beyond 64 bits is none, because it would be rounded.
fn decimal(text: &str) -> Option<Number> {
    let number: Number = serde_json::from_str(text).ok()?;
    (number.is_i64() || number.is_u64() || text.contains(['.', 'e', 'E'])).then_some(number)
}
