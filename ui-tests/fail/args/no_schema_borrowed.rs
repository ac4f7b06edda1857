//! A borrowed type needs a schema as well.

use tinyagents::prelude::*;

struct Plain;

/// Does a thing.
#[tool]
async fn take(plain: &Plain, more: &[Plain]) {
    let _ = (plain, more);
}

fn main() {}
