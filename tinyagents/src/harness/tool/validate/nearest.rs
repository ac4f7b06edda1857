//! Words that help a model mend a name or a value: short, bounded, and with the nearest guess first.

use serde_json::Value;

pub(crate) use crate::harness::message::{quoted, shortened};

/// How many names or values an answer lists.
const MOST: usize = 10;

/// The names, nearest to `wanted` first.
pub(crate) fn nearest_first<'n>(wanted: &str, names: &[&'n str]) -> Vec<&'n str> {
    // A name can be of any length; edit distance is quadratic.
    let folded = |name: &str| shortened(name, 64).to_ascii_lowercase();
    let wanted = folded(wanted);
    let mut ranked: Vec<_> =
        names.iter().map(|name| (strsim::osa_distance(&wanted, &folded(name)), *name)).collect();
    ranked.sort_by_key(|(distance, _)| *distance); // equal ones keep their order
    ranked.into_iter().map(|(_, name)| name).collect()
}

/// The text for an argument that no parameter has.
pub(crate) fn unknown_argument(name: &str, names: &[&str]) -> String {
    format!("unknown argument `{}`; expected {}", quoted(name, 60), known_names(name, names))
}

/// The names that would be accepted, nearest first.
pub(crate) fn known_names(name: &str, names: &[&str]) -> String {
    if names.is_empty() {
        return "no arguments".to_string();
    }
    let mut list = self::names(nearest_first(name, names).into_iter());
    if names.len() > 1 {
        list.insert_str(0, "one of ");
    }
    list
}

/// Names between backticks, ten at most.
pub(super) fn names<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> String {
    let count = names.len();
    listed(names.map(|name| format!("`{}`", quoted(name, 100))), count)
}

/// The values that an enum allows; the one that differs from `got` only by case or blanks comes first.
pub(crate) fn one_of(allowed: &[Value], got: &Value) -> String {
    if let [only] = allowed {
        return shortened(&only.to_string(), 60);
    }
    let got = got.as_str().unwrap_or_default().trim();
    let near = |value: &&Value| value.as_str().is_some_and(|text| text.eq_ignore_ascii_case(got));
    let first = allowed.iter().filter(near);
    let rest = allowed.iter().filter(|value| !near(value));
    let shown = first.chain(rest).map(|value| shortened(&value.to_string(), 60));
    format!("one of {}", listed(shown, allowed.len()))
}

/// The first of `count` items. The others are not made.
fn listed(items: impl Iterator<Item = String>, count: usize) -> String {
    let mut out = items.take(MOST).collect::<Vec<_>>().join(", ");
    if count > MOST {
        out.push_str(&format!(" and {} more", count - MOST));
    }
    out
}
