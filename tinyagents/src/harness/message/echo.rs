//! What others wrote, as a text of ours repeats it.
//!
//! Guarantee: it is bounded, stays on its line and is seen as it is, so that it cannot pass for the text around it.
//!
//! Not here: hiding what a policy says must not be shown (`policy`).

/// A text of at most `max` characters, with a mark where it was cut. What cannot be seen is escaped.
pub(crate) fn shortened(text: &str, max: usize) -> String {
    let mut out = String::new();
    let mut left = max;
    for c in text.chars() {
        let width = if is_seen(c) { 1 } else { c.escape_default().len() };
        if width > left {
            out.push('…');
            break;
        }
        left -= width;
        if is_seen(c) {
            out.push(c);
        } else {
            out.extend(c.escape_default());
        }
    }
    out
}

/// The same for a name, which stands between backticks: it has none itself.
pub(crate) fn quoted(name: &str, max: usize) -> String {
    shortened(name, max).replace('`', "'")
}

/// Whether a character is seen, and where it stands: not a control, a line separator, a mark that turns the direction
/// of what follows, or one without width, in which text can be hidden from a person.
fn is_seen(c: char) -> bool {
    !(c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'))
}
