//! A macro call in the block may write tools that nobody sees.

use std::sync::Arc;

use tinyagents::prelude::*;

macro_rules! mk {
    ($name:ident) => {
        async fn $name(&self) {}
    };
}

struct S;

#[tools]
impl S {
    mk!(hidden);

    /// Visible.
    #[tool]
    async fn visible(&self) {}
}

fn main() {
    let set: Toolset<()> = Arc::new(S).tools();
    let _ = (set.len(), SVisible::NAME);
}
