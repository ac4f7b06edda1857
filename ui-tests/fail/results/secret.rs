//! What a tool returns reaches the model

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
fn take(#[inject("TOKEN")] token: Secret<String>) -> Result<Option<Secret<String>>, ToolError> {
    Ok(Some(token))
}

fn main() {}
