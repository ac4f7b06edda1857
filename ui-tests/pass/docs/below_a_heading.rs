//! What stands below a heading is for people, and so is what `#[doc(hidden)]` and `#[doc(alias)]` say.

use tinyagents::prelude::*;

/// For the model.
///
/// Second paragraph, with `code`.
///
/// ## Details
///
/// For people.
#[doc(alias = "look")]
#[tool]
fn split() {}

#[doc = "In an attribute."]
#[doc = ""]
#[doc = "# Panics"]
#[doc = "Never."]
#[tool]
fn attributes() {}

fn main() {
    assert_eq!(Split::spec().description, "For the model.\n\nSecond paragraph, with `code`.");
    assert_eq!(Attributes::spec().description, "In an attribute.");
}
