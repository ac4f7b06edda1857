//! `impl Trait` names nothing that the run could make.

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
fn take(#[inject] run: impl std::fmt::Debug) -> String {
    format!("{run:?}")
}

fn main() {}
