//! Other attributes of the function stay on it, whichever side of `#[tool]` they stand.

#![deny(deprecated)]

use tinyagents::prelude::*;

/// Around.
#[inline]
#[tool]
#[must_use]
#[allow(clippy::needless_pass_by_value)]
fn around(text: String) -> usize {
    text.len()
}

/// Old.
#[deprecated = "use `around`"]
#[tool]
fn old() {}

#[cfg_attr(all(), doc = "Documented by a condition.")]
#[tool]
fn conditionally() {}

#[allow(deprecated)]
fn main() {
    assert_eq!(around("ab".into()), 2);
    assert_eq!((Old::NAME, Around::PARAMETERS), ("old", &["text"][..]));
    assert_eq!(Conditionally::spec().description, "Documented by a condition.");
}
