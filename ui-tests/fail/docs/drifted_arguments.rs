//! `# Arguments` names what is not there any more.

use tinyagents::prelude::*;

/// Does a thing.
///
/// # Arguments
///
/// * `limt` - how many
/// * `gone` - removed last year
#[tool]
async fn take(limit: u32) -> u32 {
    limit
}

fn main() {}
