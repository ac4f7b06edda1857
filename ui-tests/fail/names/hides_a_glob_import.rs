//! A tool's type hides one of the same name that came through `*`: `type = ..` is the way out

use tinyagents::prelude::*;

/// Send a message.
#[tool]
fn message(text: String) -> String {
    text
}

fn main() {
    let _ = Message::user("hello");
}
