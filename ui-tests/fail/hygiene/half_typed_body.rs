//! A body that is not finished yet is the only error

use tinyagents::prelude::*;

/// Take.
#[tool]
async fn take(text: String) -> String {
    text.
}

async fn uses() -> String {
    let _: &'static str = Take::NAME;
    take("a".into()).await
}

fn main() {}
