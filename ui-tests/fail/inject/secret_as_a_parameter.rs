//! A model can neither see nor choose a secret

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
fn take(key: Secret<String>, other: Option<&Secret<u32>>) {
    let _ = (key, other);
}

fn main() {}
