//! Lines of an `# Arguments` section describe parameters, however they are spelt.

use tinyagents::prelude::*;

/// Copy a file.
///
/// # Arguments
///
/// - `from`: where it is
/// * `to` - where it goes
/// * `mode` – how
#[tool]
fn copy(from: String, to: String, mode: Option<String>, plain: bool) -> String {
    format!("{from}{to}{mode:?}{plain}")
}

fn main() {
    let properties = &Copy::spec().input_schema["properties"];
    assert_eq!(properties["from"]["description"], "where it is");
    assert_eq!(properties["to"]["description"], "where it goes");
    assert_eq!(properties["mode"]["description"], "how");
    assert_eq!(properties["plain"], json!({ "type": "boolean" }));
}
