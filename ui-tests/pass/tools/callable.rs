//! The function stays what it was: callable, passable, documented, with its own types.

use tinyagents::prelude::*;

/// Twice as much.
#[tool]
async fn twice(n: u32) -> u32 {
    n * 2
}

/// The length of a text.
#[tool]
fn length<'a>(text: &'a str, #[inject] extra: &usize) -> usize {
    text.len() + extra
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    assert_eq!(twice(4).await, 8);
    let function: fn(&str, &usize) -> usize = length;
    assert_eq!(function("abc", &1), 4);
    assert_eq!(Length::PARAMETERS, ["text"]);
}
