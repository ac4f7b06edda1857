//! `#[tool_type]` on something else.

use tinyagents::prelude::*;

#[tool_type]
fn take() {}

#[tool_type]
union Both {
    a: u8,
    b: i8,
}

#[tool_type]
type Text = String;

fn main() {
    take();
    let _ = (Both { a: 1 }, Text::new());
}
