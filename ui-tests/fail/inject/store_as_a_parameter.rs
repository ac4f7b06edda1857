//! A store is found by its namespace, not by the model

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
fn take(notes: StoreHandle, once: IdempotencyKey) {
    let _ = (notes, once);
}

fn main() {}
