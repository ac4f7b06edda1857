//! Doc comments become descriptions: the tool's up to its first heading, a parameter's its own or its line.

use tinyagents::prelude::*;

/// Search the index,
/// newest first.
///
/// Modes:
/// - fast
/// - exact
///
/// # Arguments
///
/// * `query` - what to look for,
///   in plain words
/// * `limit` - never read, since the parameter says more
/// * `index` - for people
///
/// # Errors
///
/// When the index is gone.
#[tool]
async fn search(
    query: String,
    /// How many results
    /// to return.
    limit: u32,
    /** In a block. */ mode: String,
    #[inject] index: &u8,
) -> String {
    format!("{query}{limit}{mode}{index}")
}

fn main() {
    let spec = Search::spec();
    assert_eq!(spec.description, "Search the index, newest first.\n\nModes:\n- fast\n- exact");
    let description = |name: &str| &spec.input_schema["properties"][name]["description"];
    assert_eq!(description("query"), "what to look for, in plain words");
    assert_eq!(description("limit"), "How many results to return.");
    assert_eq!(description("mode"), "In a block.");
}
