//! `#[cfg]` on a method or on the block: what is left out is in no set and has no type.

use std::sync::Arc;

use tinyagents::prelude::*;

struct Shop;

// Would clash if the conditional methods had their types.
struct ShopGone;

#[tools]
impl Shop {
    /// Here.
    #[cfg(all())]
    #[tool(read_only)]
    async fn here(&self) -> u8 {
        1
    }

    /// Not here.
    #[tool(read_only)]
    #[cfg(any())]
    #[cfg(all())]
    async fn gone(&self, missing: Missing) -> Missing {
        missing
    }

    /// One of two versions.
    #[cfg(any())]
    #[tool]
    async fn either(&self, a: u8) -> u8 {
        a
    }

    /// The other.
    #[cfg(not(any()))]
    #[tool]
    async fn either(&self, #[cfg(any())] a: Missing, #[cfg(all())] b: u8) -> u8 {
        b
    }
}

#[tools(fn never)]
#[cfg(any())]
impl Shop {
    /// Not here.
    #[tool]
    async fn none(&self, missing: Missing) {}
}

fn main() {
    let _ = ShopGone;
    let set: Toolset<()> = Arc::new(Shop).tools();
    let names: Vec<_> = set.names().map(|name| name.to_string()).collect();
    assert_eq!(names, ["here", "either"]);
    assert_eq!(ShopEither::PARAMETERS, ["b"]);
}
