//! Types are named for owner and method, so that methods of one name on two types do not meet.

use std::sync::Arc;

use tinyagents::prelude::*;

struct Cats;
struct Dogs;

#[tools]
impl Cats {
    /// List the cats.
    #[tool(name = "list_cats")]
    async fn list(&self) -> u8 {
        1
    }
}

#[tools]
impl Dogs {
    /// List the dogs.
    #[tool(name = "list_dogs")]
    async fn list(&self) -> u8 {
        2
    }

    /// A raw name.
    #[tool(type = Loop)]
    async fn r#loop(&self, r#type: String) -> String {
        r#type
    }
}

fn main() -> tinyagents::Result<()> {
    assert_eq!((CatsList::NAME, DogsList::NAME), ("list_cats", "list_dogs"));
    assert_eq!((Loop::NAME, Loop::PARAMETERS), ("loop", &["type"][..]));
    let mut harness: AgentHarness<()> = AgentHarness::new();
    harness.register_tools(toolset![Arc::new(Cats).tools(), Arc::new(Dogs).tools()])?;
    assert_eq!(harness.tools().len(), 3);
    Ok(())
}
