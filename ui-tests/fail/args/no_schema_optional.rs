//! An optional type needs a schema as well.

use tinyagents::prelude::*;

struct Plain;

/// Does a thing.
#[tool]
async fn take(plain: Option<Plain>) {
    let _ = plain;
}

fn main() {}
