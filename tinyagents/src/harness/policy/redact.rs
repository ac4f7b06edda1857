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

/// Whether one of `paths` hides what stands at a JSON Pointer, or a part of it.
pub(crate) fn is_hidden(pointer: &str, paths: &[String]) -> bool {
    // An index is no key of a path, which goes through every item.
    let keys: Vec<_> =
        pointer.split('/').skip(1).map(|key| key.replace("~1", "/").replace("~0", "~")).collect();
    let is_index = |key: &str| key.bytes().all(|byte| byte.is_ascii_digit());
    paths.iter().any(|path| {
        let mut at = keys.iter().map(String::as_str);
        path.split('.')
            .all(|wanted| at.find(|key| *key == wanted || !is_index(key)).is_none_or(|key| key == wanted))
    })
}
