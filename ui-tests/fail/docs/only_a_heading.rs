//! What stands below a heading is for people, so nothing is left for the model.

use tinyagents::prelude::*;

/// # Details
///
/// Takes things.
#[tool]
fn grasp() {}

fn main() {}
