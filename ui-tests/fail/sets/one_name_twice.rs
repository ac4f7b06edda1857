//! Two tools of one name in a set.

use std::sync::Arc;

use tinyagents::prelude::*;

/// Add.
#[tool]
fn sum(a: u8, b: u8) -> u8 {
    a + b
}

/// Other.
#[tool]
fn other() {}

struct Numbers;

#[tools]
impl Numbers {
    /// Sum.
    #[tool]
    fn sum(&self, a: u8) -> u8 {
        a
    }
}

fn main() {
    let _: Toolset<()> = toolset![Sum, Other, NumbersSum(Arc::new(Numbers))];
}
