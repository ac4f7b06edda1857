//! A type that holds itself is defined once, at the root of the schema.

use tinyagents::prelude::*;
use tinyagents::{schemars::JsonSchema, serde::Deserialize, testkit};

#[derive(Deserialize, JsonSchema)]
#[serde(crate = "tinyagents::serde")]
#[schemars(crate = "tinyagents::schemars")]
struct Node {
    children: Vec<Node>,
}

impl Node {
    fn count(&self) -> usize {
        1 + self.children.iter().map(Node::count).sum::<usize>()
    }
}

/// Count the nodes.
#[tool]
fn count_nodes(left: Node, right: &Node) -> usize {
    left.count() + right.count()
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let schema = &CountNodes::spec().input_schema;
    assert_eq!(schema["$defs"]["Node"]["properties"]["children"]["items"], json!({ "$ref": "#/$defs/Node" }));
    assert_eq!(schema["$defs"].as_object().unwrap().len(), 1);
    let leaf = json!({ "children": [] });
    let arguments = json!({ "left": { "children": [leaf, leaf] }, "right": leaf });
    assert_eq!(testkit::call(&CountNodes, &(), arguments).await.unwrap().value, Some(json!(4)));
}
