//! Blocks inside functions and modules, made by `macro_rules!`, and through a path of one's own.

use std::sync::Arc;

mod facade {
    pub(crate) use tinyagents as agents;
}

macro_rules! counter {
    ($owner:ident, $type:ty, $method:ident, $param:ident) => {
        struct $owner(u32);

        #[tinyagents::tools]
        impl $type {
            #[tinyagents::tool(description = "Counts.")]
            async fn $method(&self, $param: u32) -> u32 {
                let value = self.0;
                value + $param
            }

            /// Blocks.
            #[tinyagents::tool]
            fn still(&self, $param: u32) -> u32 {
                self.0 * $param
            }
        }
    };
}

counter!(Counter, Counter, count, by);

struct Facade;

#[facade::agents::tools(crate = facade::agents)]
impl Facade {
    /// Through a path.
    #[facade::agents::tool(read_only)]
    async fn read(&self) -> u8 {
        1
    }
}

fn local() -> tinyagents::harness::tool::Toolset<()> {
    struct Local<T>(T);

    // A generic type, made concrete.
    #[tinyagents::tools]
    impl Local<&'static str> {
        /// Inside a function.
        #[tinyagents::tool]
        async fn nested(&self) -> &'static str {
            self.0
        }
    }

    Arc::new(Local("x")).tools()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> tinyagents::Result<()> {
    assert_eq!(CounterCount::PARAMETERS, ["by"]);
    let counter = Arc::new(Counter(2));
    let arguments = tinyagents::serde_json::json!({ "by": 5 });
    let result = tinyagents::testkit::call(&CounterStill(Arc::clone(&counter)), &(), arguments).await?;
    assert_eq!(result.value, Some(10.into()));
    let set: tinyagents::harness::tool::Toolset<()> = facade::agents::toolset![
        local(),
        counter.tools(),
        Arc::new(Facade).tools(),
    ];
    let names: Vec<_> = set.names().map(|name| name.to_string()).collect();
    assert_eq!(names, ["nested", "count", "still", "read"]);
    assert!(FacadeRead::policy().is_read_only());
    Ok(())
}
