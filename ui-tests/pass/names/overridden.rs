//! `name`, `type` and `description` replace what the function says; the function keeps its own name.

use tinyagents::prelude::*;

struct Point;

/// For people.
#[tool(name = "make_point", type = MakePoint, description = "For the model.")]
async fn point(x: i64) -> i64 {
    x
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let _ = Point;
    assert_eq!(MakePoint::NAME, "make_point");
    assert_eq!(MakePoint::spec().description, "For the model.");
    assert_eq!(point(7).await, 7);
}
