//! Names that the compiler does not know are compared by the registry, which then takes none of the set.

use tinyagents::prelude::*;

/// Add.
#[tool(name = "sum")]
fn add(a: u8, b: u8) -> u8 {
    a + b
}

/// Sum.
#[tool]
fn sum(a: u8) -> u8 {
    a
}

/// Other.
#[tool]
fn other(a: u8) -> u8 {
    a
}

fn main() {
    let mut registry: ToolRegistry<()> = ToolRegistry::new();
    assert_eq!(registry.register(Other), Ok(()));
    let (first, second) = (Add, Sum);
    let error = registry.register_all(toolset![first, second]).err().map(|error| error.to_string());
    assert_eq!(error.as_deref(), Some("a tool or alias named `sum` is registered already; give one of them another name"));
    assert!(registry.register_all(Toolset::new().with(Add).with(Other)).is_err());
    assert_eq!(registry.len(), 1);
    assert_eq!(registry.register_all(toolset![Add]), Ok(()));
    let names: Vec<_> = registry.names().map(|name| name.as_str()).collect();
    assert_eq!(names, ["other", "sum"]);
}
