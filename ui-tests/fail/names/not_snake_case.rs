//! A name that a provider would refuse, with the nearest that none does.

use tinyagents::prelude::*;

/// Does a thing.
#[tool(name = "Dockerfile problems scanner")]
async fn scan() {}

fn main() {
    let _ = Scan;
}
