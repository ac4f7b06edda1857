//! A word that is not finished yet is the only error

use tinyagents::prelude::*;

/// Take.
#[tool(read_)]
async fn take(text: String) -> usize {
    text.len()
}

async fn uses() -> usize {
    let _: &'static str = Take::NAME;
    take("a".into()).await
}

fn main() {}
