//! A tool is named for its function; its type is the name in camel case.

use tinyagents::prelude::*;

/// Search.
#[tool]
async fn search_files() {}

/// One letter.
#[tool]
async fn f() {}

/// A keyword.
#[tool]
async fn r#match() {}

/// Digits.
#[tool]
fn utf8_to_utf16() {}

fn main() {
    assert_eq!(SearchFiles::NAME, "search_files");
    assert_eq!(F::NAME, "f");
    assert_eq!(Match::NAME, "match");
    assert_eq!(Utf8ToUtf16::NAME, "utf8_to_utf16");
    assert_eq!(Match::spec().name.as_str(), "match");
    assert_eq!(format!("{SearchFiles:?}"), "SearchFiles");
}
