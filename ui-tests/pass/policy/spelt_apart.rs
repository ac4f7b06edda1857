//! Words may stand in any order, over several lines, with a comma at the end.

use tinyagents::prelude::*;

/// Once.
#[tool(timeout = "1s", read_only, name = "once")]
fn first() {}

/// Again.
#[tool(
    name = "again",
    read_only,
    timeout = "1s",
)]
fn second() {}

fn main() {
    assert_eq!(First::policy(), Second::policy());
    assert_eq!((First::NAME, Second::NAME), ("once", "again"));
    assert_eq!(First::policy().runtime.timeout_ms, Some(1000));
}
