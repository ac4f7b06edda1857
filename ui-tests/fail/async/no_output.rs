//! A type that is no output, and one that is no error.

use tinyagents::prelude::*;

struct Plain;

/// Does a thing.
#[tool]
async fn value() -> Plain {
    Plain
}

/// Does a thing.
#[tool]
fn error() -> Result<u32, Plain> {
    Err(Plain)
}

fn main() {}
