//! `#[tools]` on something else.

use tinyagents::prelude::*;

#[tools]
struct Files;

#[tools]
/// Read.
async fn read() {}

fn main() {
    let _ = (Files, read());
}
