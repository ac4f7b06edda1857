//! A tool whose type would hide one that every module uses.

use tinyagents::prelude::*;

/// Tells the result.
#[tool]
async fn result() -> Result<(), String> {
    Ok(())
}

fn main() {}
