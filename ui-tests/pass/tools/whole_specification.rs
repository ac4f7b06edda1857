//! The specification as a whole, by value; it is built once.

use tinyagents::prelude::*;

/// Search.
#[tool(read_only)]
async fn search(
    /// What for.
    query: String,
    #[arg(default = 5)] limit: u8,
    #[inject] run: RunId,
) -> String {
    format!("{query}{limit}{run}")
}

fn main() {
    let schema = json!({
        "type": "object",
        "properties": {
            "query": { "type": "string", "description": "What for." },
            "limit": { "type": "integer", "minimum": 0, "maximum": 255, "default": 5 }
        },
        "required": ["query"],
        "additionalProperties": false
    });
    assert_eq!(*Search::spec().input_schema, schema);
    assert_eq!(Search::spec().input_schema.to_string(), schema.to_string(), "in declared order");
    assert!(std::ptr::eq(Search::spec(), Search::spec()));
    assert_eq!(Tool::<()>::spec(&Search), *Search::spec());
}
