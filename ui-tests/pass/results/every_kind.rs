//! Whatever a function returns becomes content for the model and, if it is structured, a value.

use std::borrow::Cow;
use std::collections::BTreeMap;

use tinyagents::prelude::*;
use tinyagents::serde::Serialize;
use tinyagents::testkit;

#[derive(Serialize)]
#[serde(crate = "tinyagents::serde")]
struct Hit {
    line: u32,
}

type Found<T> = Result<T, std::fmt::Error>;

macro_rules! tools {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $value:expr;)*) => {$(
        $(#[$doc])*
        #[tool(read_only)]
        fn $name() -> $type {
            $value
        }
    )*};
}

tools! {
    /// A text.
    text: String = "tea".into();
    /// A constant text.
    constant: &'static str = "tea";
    /// A text of either kind.
    either: Cow<'static, str> = "tea".into();
    /// Nothing.
    unit: () = ();
    /// Nothing, that could fail.
    unit_result: Result<(), ToolError> = Ok(());
    /// A number.
    number: i64 = -3;
    /// A number with a fraction.
    fraction: f64 = 2.5;
    /// Yes.
    truth: bool = true;
    /// A letter.
    letter: char = 'x';
    /// A struct.
    one_hit: Hit = Hit { line: 1 };
    /// A struct that is said to be one.
    json_hit: Json<Hit> = Json(Hit { line: 1 });
    /// A list behind an alias.
    hits: Found<Vec<Hit>> = Ok(vec![Hit { line: 1 }]);
    /// A map.
    map: BTreeMap<String, u8> = BTreeMap::from([("a".into(), 1)]);
    /// A pair.
    pair: (u8, &'static str) = (1, "b");
    /// Some text.
    some_text: Option<String> = Some("tea".into());
    /// No text.
    no_text: Option<String> = None;
    /// A block.
    block: ContentBlock = ContentBlock::text("tea");
    /// Blocks.
    blocks: Vec<ContentBlock> = vec![ContentBlock::text("tea")];
    /// Perhaps a block.
    some_block: Option<ContentBlock> = Some(ContentBlock::text("tea"));
    /// Perhaps blocks.
    no_blocks: Option<Vec<ContentBlock>> = None;
    /// An output made by hand.
    by_hand: ToolOutput = ToolOutput::text("tea").with_value(1);
    /// Perhaps one.
    some_output: Option<ToolOutput> = Some(ToolOutput::text("tea").with_value(1));
    /// Any JSON.
    any: Value = json!({ "a": [1] });
}

async fn given(tool: impl Tool<()> + Clone + 'static) -> (String, Option<Value>) {
    let result = testkit::call(&tool, &(), json!({})).await.unwrap();
    assert!(!result.is_error, "{result:?}");
    let [ContentBlock::Text { text }] = result.content.as_slice() else { panic!("{result:?}") };
    (text.clone(), result.value)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let tea = || ("tea".to_string(), None);
    let nothing = || ("(no output)".to_string(), None);
    let valued = |value: Value| (value.to_string(), Some(value));
    assert_eq!(given(Text).await, tea());
    assert_eq!(given(Constant).await, tea());
    assert_eq!(given(Either).await, tea());
    assert_eq!(given(Unit).await, nothing());
    assert_eq!(given(UnitResult).await, nothing());
    assert_eq!(given(Number).await, valued(json!(-3)));
    assert_eq!(given(Fraction).await, valued(json!(2.5)));
    assert_eq!(given(Truth).await, valued(json!(true)));
    assert_eq!(given(Letter).await, ("x".to_string(), None));
    assert_eq!(given(OneHit).await, valued(json!({ "line": 1 })));
    assert_eq!(given(JsonHit).await, valued(json!({ "line": 1 })));
    assert_eq!(given(Hits).await, valued(json!([{ "line": 1 }])));
    assert_eq!(given(Map).await, valued(json!({ "a": 1 })));
    assert_eq!(given(Pair).await, valued(json!([1, "b"])));
    assert_eq!(given(SomeText).await, tea());
    assert_eq!(given(NoText).await, nothing());
    assert_eq!(given(Block).await, tea());
    assert_eq!(given(Blocks).await, tea());
    assert_eq!(given(SomeBlock).await, tea());
    assert_eq!(given(NoBlocks).await, nothing());
    assert_eq!(given(ByHand).await, ("tea".to_string(), Some(json!(1))));
    assert_eq!(given(SomeOutput).await, ("tea".to_string(), Some(json!(1))));
    assert_eq!(given(Any).await, valued(json!({ "a": [1] })));
}
