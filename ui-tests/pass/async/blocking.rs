//! A plain function blocks its thread, unless it says that it is quick.

use tinyagents::prelude::*;

/// Blocks.
#[tool]
fn blocks() {}

/// Quick.
#[tool(inline)]
fn quick() {}

/// Awaits.
#[tool]
async fn awaits() {}

fn main() {
    let blocking = |tool: &dyn Tool<()>| (tool.spec().name.to_string(), tool.is_blocking());
    assert_eq!(blocking(&Blocks), ("blocks".into(), true));
    assert_eq!(blocking(&Quick), ("quick".into(), false));
    assert_eq!(blocking(&Awaits), ("awaits".into(), false));
}
