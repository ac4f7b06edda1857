//! Escapes of lone surrogates, which stand for no character.

/// The text with each escape of a lone surrogate replaced by that of U+FFFD; nothing if there is none. Both are six
/// bytes long, so positions in the text stay what they are.
pub(super) fn replaced(text: &str) -> Option<String> {
    let mut out = String::new();
    let (mut kept, mut at) = (0, 0);
    while let Some(found) = text.get(at..)?.find('\\') {
        let escape = at + found;
        at = match (unit(text, escape), unit(text, escape + 6)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => escape + 12,
            (Some(0xD800..=0xDFFF), _) => {
                out.push_str(text.get(kept..escape)?);
                out.push_str("\\ufffd");
                kept = escape + 6;
                kept
            }
            // Any other escape; of `\\` both, so that the second is none.
            _ => escape + 1 + text.get(escape + 1..)?.chars().next().map_or(0, char::len_utf8),
        };
    }
    if kept == 0 {
        return None;
    }
    out.push_str(text.get(kept..)?);
    Some(out)
}

/// The UTF-16 code unit of the escape that begins at `at`, if one does.
fn unit(text: &str, at: usize) -> Option<u16> {
    let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
}
