//! Generic tools, in every spelling.

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
async fn one<T: Clone, const N: usize>(list: [u8; N]) -> usize {
    list.len()
}

/// Does a thing.
#[tool]
async fn two(text: impl Into<String>) -> String {
    text.into()
}

/// Does a thing.
#[tool]
async fn three(object: Box<dyn Fn() + Send>) {
    object();
}

fn main() {
    let _ = (One, Two, Three);
}
