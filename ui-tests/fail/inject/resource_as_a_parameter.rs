//! A resource is the application'\''s to choose

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
fn take(table: Resource<String>) {
    let _ = table;
}

fn main() {}
