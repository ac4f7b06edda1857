//! A trait object cannot be read from JSON, wherever it stands in the type.

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
fn take(log: &dyn std::fmt::Debug, boxed: Option<Box<dyn std::fmt::Display>>) {
    let _ = (log, boxed);
}

fn main() {}
