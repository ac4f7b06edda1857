//! Names that say that a value is a secret, in the fields of what a model fills.
//!
//! Guarantee: every named field is seen once, behind lists, alternatives and references too.
//!
//! Not here: the names of parameters, which `#[tool]` checks when it is compiled.

use serde_json::{Map, Value};

/// Whether a name says that its value is a secret. `#[tool]` judges the names of parameters by the same rule.
fn is_credential(name: &str) -> bool {
    const WORDS: [&str; 8] =
        ["api_key", "apikey", "token", "password", "passwd", "secret", "credential", "private_key"];
    let name = name.to_ascii_lowercase();
    WORDS
        .iter()
        .any(|word| name.strip_suffix(word).is_some_and(|rest| rest.is_empty() || rest.ends_with('_')))
}

/// The path of the first field below `schema` whose name is a credential's.
pub(super) fn credential_field(name: &str, schema: &Value, root: &Map<String, Value>) -> Option<String> {
    search(name, schema, root, &mut Vec::new())
}

fn search(
    path: &str,
    schema: &Value,
    root: &Map<String, Value>,
    followed: &mut Vec<String>,
) -> Option<String> {
    let object = schema.as_object()?;
    if let Some(Value::Object(fields)) = object.get("properties") {
        for (name, schema) in fields {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            if is_credential(name) {
                return Some(path);
            }
            if let Some(found) = search(&path, schema, root, followed) {
                return Some(found);
            }
        }
    }
    let target =
        object.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix("#/$defs/"));
    if let Some(name) = target.filter(|name| !followed.iter().any(|seen| seen == name)) {
        followed.push(name.to_owned());
        let schema = root.get("$defs").and_then(|defs| defs.get(name))?;
        if let Some(found) = search(path, schema, root, followed) {
            return Some(found);
        }
    }
    let single = ["items", "additionalProperties"].into_iter().filter_map(|keyword| object.get(keyword));
    let lists = ["anyOf", "oneOf", "allOf", "prefixItems"].into_iter();
    let lists = lists.filter_map(|keyword| object.get(keyword)?.as_array()).flatten();
    single.chain(lists).find_map(|schema| search(path, schema, root, followed))
}
