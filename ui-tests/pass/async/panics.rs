//! A panic in a body is an error result, before and after the first await, and in a plain function.

use tinyagents::prelude::*;
use tinyagents::testkit;

/// At once.
#[tool]
async fn at_once() {
    panic!("at once");
}

/// Later.
#[tool]
async fn later() {
    tokio::task::yield_now().await;
    panic!("later");
}

/// In a plain function.
#[tool]
fn plain() -> u8 {
    panic!("plain")
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    assert!(testkit::call(&AtOnce, &(), json!({})).await.unwrap().is_error);
    assert!(testkit::call(&Later, &(), json!({})).await.unwrap().is_error);
    assert!(testkit::call(&Plain, &(), json!({})).await.unwrap().is_error);
}
