//! A type of the user's own may be called like one that the run makes, where a model can choose it.

use tinyagents::schemars::JsonSchema;
use tinyagents::serde::Deserialize;

mod own {
    use super::*;

    #[derive(Deserialize, JsonSchema)]
    #[serde(crate = "tinyagents::serde")]
    #[schemars(crate = "tinyagents::schemars")]
    pub struct Deadline {
        pub days: u8,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(crate = "tinyagents::serde")]
    #[schemars(crate = "tinyagents::schemars")]
    pub struct Resource {
        pub id: String,
    }
}

/// Plan a thing.
#[tinyagents::tool]
fn plan(deadline: own::Deadline, resource: own::Resource) -> String {
    format!("{} in {}", resource.id, deadline.days)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    assert_eq!(Plan::PARAMETERS, ["deadline", "resource"]);
    let arguments = tinyagents::serde_json::json!({ "deadline": { "days": 3 }, "resource": { "id": "x" } });
    let result = tinyagents::testkit::call(&Plan, &(), arguments).await.unwrap();
    assert_eq!(result.content, [tinyagents::prelude::ContentBlock::text("x in 3")]);
}
