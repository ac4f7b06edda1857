//! `#[tool]` on something else.

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
struct Search;

fn main() {
    let _ = Search;
}
