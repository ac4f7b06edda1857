//! A type that does not exist is reported once.

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
fn take(point: Piont, text: String) -> String {
    let _ = point;
    text
}

fn main() {
    let _ = Take::NAME;
}
