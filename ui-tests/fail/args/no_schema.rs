//! A type without a schema gives one error, at the type.

use tinyagents::prelude::*;

struct Plain;

/// Does a thing.
#[tool]
async fn take(list: Vec<Plain>) -> usize {
    list.len()
}

fn main() {
    let _ = Take;
}
