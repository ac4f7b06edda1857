//! The compiler's own words, at the function's name.

use tinyagents::prelude::*;

async fn pause() {}

/// Does a thing.
#[tool]
async fn owned(n: u32) -> u32 {
    let shared = std::rc::Rc::new(n);
    pause().await;
    *shared
}

/// Does a thing.
#[tool]
async fn lent(text: &str) -> usize {
    let shared = std::rc::Rc::new(text.len());
    pause().await;
    *shared
}

fn main() {}
