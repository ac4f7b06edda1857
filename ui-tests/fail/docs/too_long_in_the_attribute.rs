//! The bound holds for `description = ".."` as well; the error is at the text.

use tinyagents::prelude::*;

#[tool(description = "A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. A long story. ")]
fn take() {}

fn main() {}
