//! A tool for one state, in a harness with another.

use tinyagents::prelude::*;

struct Doubled(u32);

impl<C> Inject<u32, C> for Doubled {
    fn inject(cx: &InjectContext<'_, u32, C>) -> Result<Self, ToolError> {
        Ok(Self(cx.state * 2))
    }
}

/// Does a thing.
#[tool]
fn take(#[inject] doubled: Doubled) -> u32 {
    doubled.0
}

fn main() {
    let mut harness: AgentHarness<String> = AgentHarness::new();
    let _ = harness.register_tool(Take);
}
