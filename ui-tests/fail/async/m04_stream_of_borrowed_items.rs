//! A stream that borrows its items: the compiler's own words, at the function's name

use futures_util::{StreamExt, stream};
use tinyagents::prelude::*;

/// Double every number, four at a time.
#[tool]
async fn owned(numbers: Vec<u32>) -> Vec<u32> {
    stream::iter(numbers.iter()).map(|n| async move { n * 2 }).buffer_unordered(4).collect().await
}

/// Double every number, four at a time.
#[tool]
async fn lent(numbers: &[u32]) -> Vec<u32> {
    stream::iter(numbers.iter()).map(|n| async move { n * 2 }).buffer_unordered(4).collect().await
}

fn main() {}
