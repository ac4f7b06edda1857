//! Tools, sets, values and conditional entries, in the order they are written.

use std::sync::Arc;

use tinyagents::harness::tool::{ToolCall, ToolRuntime, ToolSpec};
use tinyagents::prelude::*;

/// Add.
#[tool]
fn add(a: u8, b: u8) -> u8 {
    a + b
}

mod inner {
    use tinyagents::prelude::*;

    /// Negate.
    #[tool]
    pub fn negate(a: i8) -> i8 {
        -a
    }
}

struct Echo;

#[tinyagents::async_trait]
impl<S: Send + Sync> Tool<S> for Echo {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new("echo", "Repeat.", json!({ "type": "object" }))
    }

    async fn call(&self, _: &S, _: ToolRuntime<'_>, call: ToolCall) -> tinyagents::Result<ToolResult> {
        Ok(ToolOutput::text("x").into_result(&call))
    }
}

struct Held;

#[tools]
impl Held {
    /// Get.
    #[tool]
    async fn get(&self) -> u8 {
        1
    }
}

fn main() -> tinyagents::Result<()> {
    let held = Arc::new(Held);
    let erased: Arc<dyn Tool<()>> = Arc::new(inner::Negate);
    let set: Toolset<()> = toolset![
        Add,
        Echo,
        held.tools(),
        erased,
        #[cfg(any())]
        Add,
        #[cfg(all())]
        HeldGet(Arc::clone(&held)),
    ];
    let names: Vec<_> = set.names().map(|name| name.to_string()).collect();
    assert_eq!(names, ["add", "echo", "get", "negate", "get"]);
    assert_eq!(format!("{:?}", toolset![Add, inner::Negate] as Toolset<()>), r#"["add", "negate"]"#.replace('"', "\"").as_str());

    let mut harness: AgentHarness<()> = AgentHarness::new();
    let refused = harness.register_tools(set).err().map(|error| error.to_string());
    assert!(refused.is_some_and(|text| text.contains("`get` is registered already")));
    assert!(harness.tools().is_empty());
    harness.register_tools(toolset![Add, inner::Negate])?.register_tools(toolset![])?.register_tools(toolset![Echo])?;
    assert_eq!(harness.tools().len(), 3);
    Ok(())
}
