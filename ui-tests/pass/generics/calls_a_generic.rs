//! The way out of a generic tool: one small tool for each type, which calls the generic function.

use tinyagents::prelude::*;
use tinyagents::testkit;

fn largest<T: Ord + Copy>(list: &[T]) -> Option<T> {
    list.iter().copied().max()
}

/// The largest number.
#[tool]
fn largest_number(list: &[i64]) -> Option<i64> {
    largest(list)
}

/// The last letter.
#[tool]
fn last_letter(list: &[char]) -> Option<char> {
    largest(list)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let result = testkit::call(&LargestNumber, &(), json!({ "list": [3, 9, 2] })).await.unwrap();
    assert_eq!(result.value, Some(json!(9)));
    let result = testkit::call(&LastLetter, &(), json!({ "list": ["a", "c"] })).await.unwrap();
    assert_eq!(result.content, [ContentBlock::text("c")]);
}
