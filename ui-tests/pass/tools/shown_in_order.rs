//! A registry shows its tools in the order in which they were registered, with aliases for one provider.

use tinyagents::prelude::*;

/// Second by name.
#[tool]
fn zebra() {}

/// First by name.
#[tool]
fn ant(legs: u8) -> u8 {
    legs
}

fn main() {
    let mut registry: ToolRegistry<()> = ToolRegistry::new();
    registry.register(Zebra).unwrap();
    registry.register(Ant).unwrap();
    registry.alias("other", "ant", "Ant.v2").unwrap();
    let names: Vec<_> = registry.schemas().into_iter().map(|schema| schema.name).collect();
    assert_eq!(names, ["zebra", "ant"]);
    assert_eq!(registry.spec("ant").unwrap().input_schema["required"], json!(["legs"]));
}
