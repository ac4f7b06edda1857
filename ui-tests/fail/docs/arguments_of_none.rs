//! `# Arguments` of a tool that takes nothing.

use tinyagents::prelude::*;

/// Does a thing.
///
/// # Arguments
///
/// - `limit`: how many
#[tool]
fn take() {}

fn main() {}
