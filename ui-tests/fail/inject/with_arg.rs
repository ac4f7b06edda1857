//! Hidden from the model and described for it.

use tinyagents::prelude::*;

/// Does a thing.
#[tool]
async fn take(
    #[inject]
    #[arg(default = 1)]
    n: &u32,
) -> u32 {
    *n
}

fn main() {}
