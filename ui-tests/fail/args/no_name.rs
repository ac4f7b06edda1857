//! `_` is no name that a model could fill.

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
fn take(_: String) {}

fn main() {}
