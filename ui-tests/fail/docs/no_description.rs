//! The newcomer's first try: one error.

use tinyagents::prelude::*;

#[tool]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn main() {
    let _ = (Add, Add::NAME, Add::spec());
}
