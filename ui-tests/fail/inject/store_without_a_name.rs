//! A store is found by its namespace

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
async fn take(#[inject] notes: StoreHandle) {
    let _ = notes;
}

fn main() {}
