//! The generated type meets one of the user: `type = ..` is the way out (see `README.md`).

use tinyagents::prelude::*;

struct Point;

/// Does a thing.
#[tool]
async fn point(x: i64) -> i64 {
    x
}

fn main() {
    let _ = Point;
}
