//! Hiding what a policy says must not be shown.

use serde_json::Value;

const REDACTED: &str = "[redacted]";

/// The value with what stands at `paths` replaced; nothing if nothing does. A path is keys with dots between them,
/// and goes through every item of an array.
pub(crate) fn redacted(value: &Value, paths: &[String]) -> Option<Value> {
    let mut shown = None;
    for path in paths {
        let keys: Vec<_> = path.split('.').collect();
        let target = shown.get_or_insert_with(|| value.clone());
        hide(target, &keys);
    }
    shown
}

fn hide(value: &mut Value, keys: &[&str]) {
    match (value, keys) {
        (Value::Array(items), _) if !keys.is_empty() => items.iter_mut().for_each(|item| hide(item, keys)),
        (Value::Object(object), [key, rest @ ..]) => {
            if let Some(inner) = object.get_mut(*key) {
                hide(inner, rest);
            }
        }
        // The end of a path; or a text that may be the broken spelling of an object.
        (value @ Value::String(_), _) | (value, []) => *value = REDACTED.into(),
        _ => {}
    }
}
