//! With a default it must be writable too; still one error.

use tinyagents::prelude::*;

#[derive(Default)]
struct Plain;

/// Does a thing.
#[tool]
async fn take(#[arg(default)] one: Plain) {
    let _ = one;
}

fn main() {}
