//! A default that does not compile is the compiler's own error, once.

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
fn take(#[arg(default = MOST)] limit: u32) -> u32 {
    limit
}

fn main() {
    let _ = Take::PARAMETERS;
}
