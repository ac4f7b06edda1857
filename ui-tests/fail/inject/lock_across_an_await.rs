//! A guard that is held across an await: the compiler's note is at the guard.

use std::sync::Mutex;

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
async fn take(#[inject] seen: &Mutex<Vec<u8>>) {
    let seen = seen.lock().unwrap();
    tokio::task::yield_now().await;
    drop(seen);
}

fn main() {}
