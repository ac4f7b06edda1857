//! Sets, maps, arrays and boxes are shown and read as what they hold.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use tinyagents::prelude::*;
use tinyagents::testkit;

/// Collections.
#[tool]
fn collections(
    set: BTreeSet<u8>,
    tags: HashSet<String>,
    sizes: HashMap<String, u8>,
    line: VecDeque<bool>,
    three: [u8; 3],
    boxed: Box<str>,
    nested: Vec<Vec<Option<u8>>>,
) -> usize {
    set.len() + tags.len() + sizes.len() + line.len() + three.len() + boxed.len() + nested.len()
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let properties = &Collections::spec().input_schema["properties"];
    let small = json!({ "type": "integer", "minimum": 0, "maximum": 255 });
    assert_eq!(properties["set"], json!({ "type": "array", "uniqueItems": true, "items": small }));
    assert_eq!(properties["sizes"]["additionalProperties"], small);
    assert_eq!((&properties["three"]["minItems"], &properties["three"]["maxItems"]), (&json!(3), &json!(3)));
    assert_eq!(properties["boxed"], json!({ "type": "string" }));
    assert_eq!(properties["nested"]["items"]["items"]["type"], json!(["integer", "null"]));
    let arguments = json!({
        "set": [1, 2], "tags": ["a"], "sizes": { "x": 1 }, "line": [true], "three": [1, 2, 3], "boxed": "b",
        "nested": [[null, 1]]
    });
    assert_eq!(testkit::call(&Collections, &(), arguments).await.unwrap().value, Some(json!(10)));
}
