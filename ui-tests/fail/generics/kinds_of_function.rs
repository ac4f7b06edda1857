//! `const`, `unsafe` and `extern` functions.

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
const fn one() {}

/// Does a thing.
#[tool]
unsafe fn two() {}

/// Does a thing.
#[tool]
extern "C" fn three() {}

fn main() {}
