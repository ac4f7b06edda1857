//! Words that help a model mend a name or a value: short, bounded, and with the nearest guess first.

use serde_json::Value;

/// How many names or values an answer lists.
const MOST: usize = 10;

/// The names, nearest to `wanted` first.
pub(crate) fn nearest_first<'n>(wanted: &str, names: &[&'n str]) -> Vec<&'n str> {
    // A model can write a name of any length; edit distance is quadratic.
    let wanted = shortened(wanted, 64).to_ascii_lowercase();
    let mut ranked: Vec<_> =
        names.iter().map(|name| (strsim::osa_distance(&wanted, &name.to_ascii_lowercase()), *name)).collect();
    ranked.sort_by_key(|(distance, _)| *distance); // equal ones keep their order
    ranked.into_iter().map(|(_, name)| name).collect()
}

/// The text for an argument that no parameter has.
pub(crate) fn unknown_argument(name: &str, names: &[&str]) -> String {
    format!("unknown argument `{}`; expected {}", shortened(name, 60), known_names(name, names))
}

/// The names that would be accepted, nearest first.
pub(crate) fn known_names(name: &str, names: &[&str]) -> String {
    if names.is_empty() {
        return "no arguments".to_string();
    }
    let mut list = listed(nearest_first(name, names).iter().map(|name| format!("`{name}`")));
    if names.len() > 1 {
        list.insert_str(0, "one of ");
    }
    list
}

/// The values that an enum allows; the one that differs from `got` only by case or blanks comes first.
pub(crate) fn one_of(allowed: &[Value], got: &Value) -> String {
    if let [only] = allowed {
        return shortened(&only.to_string(), 60);
    }
    let got = got.as_str().unwrap_or_default().trim().to_ascii_lowercase();
    let near = |value: &&Value| value.as_str().is_some_and(|text| text.to_ascii_lowercase() == got);
    let first = allowed.iter().filter(near);
    let rest = allowed.iter().filter(|value| !near(value));
    format!("one of {}", listed(first.chain(rest).map(|value| shortened(&value.to_string(), 60))))
}

fn listed(items: impl Iterator<Item = String>) -> String {
    let items: Vec<_> = items.collect();
    let mut out = items.iter().take(MOST).cloned().collect::<Vec<_>>().join(", ");
    if items.len() > MOST {
        out.push_str(&format!(" and {} more", items.len() - MOST));
    }
    out
}

/// A text cut to at most `max` characters, with a mark where it was cut.
pub(crate) fn shortened(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_string(),
    }
}
