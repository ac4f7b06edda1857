//! Types inside functions, made by `macro_rules!`, generic ones, and through a path of one's own.

mod facade {
    pub(crate) use tinyagents as agents;
}

/// Would be found if the derives named these crates by themselves.
#[allow(dead_code)]
mod serde {}
#[allow(dead_code)]
mod schemars {}

macro_rules! record {
    ($name:ident { $($field:ident: $type:ty),* }) => {
        #[tinyagents::tool_type]
        #[derive(Debug, Clone)]
        struct $name { $($field: $type),* }
    };
}

record!(Size { width: u8, r#type: Option<String> });

#[facade::agents::tool_type(crate = facade::agents)]
#[derive(Default)]
struct Pair<T> {
    first: T,
    second: T,
}

/// Use them.
#[tinyagents::tool]
fn all(size: Size, pair: Pair<u8>) -> u8 {
    size.width + pair.first + pair.second
}

fn local() -> u8 {
    #[tinyagents::tool_type]
    enum Level {
        Low,
        High,
    }

    /// Local.
    #[tinyagents::tool(type = TakeLevel)]
    fn level(level: Level) -> u8 {
        match level {
            Level::Low => 1,
            Level::High => 2,
        }
    }

    assert_eq!(TakeLevel::PARAMETERS, ["level"]);
    level(Level::Low) + level(Level::High)
}

fn main() {
    assert_eq!(local(), 3);
    let properties = &All::spec().input_schema["properties"];
    assert_eq!(properties["size"]["required"], tinyagents::serde_json::json!(["width"]));
    assert!(properties["size"]["properties"]["type"].is_object());
    assert_eq!(properties["pair"]["properties"]["first"]["maximum"], 255);
    assert_eq!(all(Size { width: 1, r#type: None }, Pair::default()), 1);
}
