//! A plain function runs beside the async threads, an inline one and an async one on them.

use std::thread;

use tinyagents::prelude::*;
use tinyagents::testkit;

fn here() -> String {
    format!("{:?}", thread::current().id())
}

/// Beside.
#[tool]
fn beside() -> String {
    here()
}

/// In place.
#[tool(inline)]
fn in_place() -> String {
    here()
}

/// In place, too.
#[tool]
async fn awaited() -> String {
    here()
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let here = [ContentBlock::text(here())];
    assert_ne!(testkit::call(&Beside, &(), json!({})).await.unwrap().content, here);
    assert_eq!(testkit::call(&InPlace, &(), json!({})).await.unwrap().content, here);
    assert_eq!(testkit::call(&Awaited, &(), json!({})).await.unwrap().content, here);
}
