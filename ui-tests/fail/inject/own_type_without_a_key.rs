//! A type that is found by no key: reported where the state is known

use tinyagents::prelude::*;

struct Tenant;

impl<S, C> Inject<S, C> for Tenant {
    fn inject(_: &InjectContext<'_, S, C>) -> Result<Self, ToolError> {
        Ok(Self)
    }
}

/// Does a thing.
#[tool]
fn take(#[inject("acme")] tenant: Tenant) {
    let _ = tenant;
}

fn main() -> tinyagents::Result<()> {
    let mut harness: AgentHarness<()> = AgentHarness::new();
    harness.register_tool(Take)?;
    Ok(())
}
