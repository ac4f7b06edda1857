//! What a type refuses by code of its own is refused like what its schema refuses: before its tool starts.

use std::time::Duration;

use tinyagents::harness::event::FailureKind;
use tinyagents::harness::tool::ToolError;
use tinyagents::prelude::*;
use tinyagents::schemars::JsonSchema;
use tinyagents::serde::de::Error;
use tinyagents::serde::{Deserialize, Deserializer, Serialize};
use tinyagents::serde_json::Value;
use tinyagents::testkit::ScriptedModel;

use crate::fixture::{Stage, texts};

/// An even number.
#[derive(JsonSchema, Serialize)]
#[serde(crate = "tinyagents::serde")]
#[schemars(crate = "tinyagents::schemars", transparent)]
struct Even(u32);

impl<'de> Deserialize<'de> for Even {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u32::deserialize(deserializer)? {
            13 => panic!("thirteen"),
            odd if odd % 2 == 1 => Err(D::Error::custom("an odd number, expected an even one")),
            even => Ok(Self(even)),
        }
    }
}

/// Two of them.
#[tool_type]
struct Evens {
    left: Even,
    right: Option<Even>,
}

fn short(value: &Value) -> Result<String, tinyagents::serde_json::Error> {
    let text = String::deserialize(value)?;
    if text.len() < 4 { Ok(text) } else { Err(Error::custom("a long text")) }
}

/// Take what fits.
#[tool(read_only)]
fn take(
    one: Option<Even>,
    list: Option<Vec<Even>>,
    #[arg(flatten)] evens: Option<Evens>,
    wait: Option<Duration>,
    #[arg(with = short, default = String::new())] text: String,
) -> Result<String, ToolError> {
    let sum = one.map_or(0, |even| even.0) + list.iter().flatten().map(|even| even.0).sum::<u32>();
    let evens = evens.map_or(0, |evens| evens.left.0 + evens.right.map_or(0, |even| even.0));
    Ok(format!("{} {wait:?} {text}", sum + evens))
}

/// What is called, and the answer if it fits, or what the model is told.
const CALLS: [(&str, Result<&str, &str>); 13] = [
    (r#"{}"#, Ok("0 None ")),
    (r#"{"one": 2, "list": [4, 6], "left": 8, "right": 10}"#, Ok("30 None ")),
    (r#"{"wait": {"secs": 1, "nanos": 5}, "text": "abc"}"#, Ok("0 Some(1.000000005s) abc")),
    (r#"{"one": null, "right": null, "left": 2}"#, Ok("2 None ")),
    (r#"{"one": 3}"#, Err("`one`: expected an even one, got an odd number")),
    (r#"{"one": 13}"#, Err("`one`: expected another value, got integer 13 (its type cannot read it)")),
    (r#"{"list": [2, 4, 5]}"#, Err("`list`: expected an even one, got an odd number")),
    (r#"{"left": 1}"#, Err("the arguments: expected an even one, got an odd number")),
    (r#"{"left": 2, "right": 1}"#, Err("the arguments: expected an even one, got an odd number")),
    (r#"{"wait": {"secs": 18446744073709551615, "nanos": 4000000000}}"#, Err("`wait`: expected")),
    (r#"{"text": "abcd"}"#, Err(r#"`text`: expected another value, got string "abcd" (a long text)"#)),
    (
        r#"{"one": 1, "text": "abcd"}"#,
        Err(r#"`text`: expected another value, got string "abcd" (a long text)"#),
    ),
    (r#"{"one": -2}"#, Err("`one`: expected a number between 0 and 4294967295, got -2")),
];

#[tokio::test]
async fn what_a_type_refuses_by_itself_never_starts_its_tool() {
    for (arguments, outcome) in CALLS {
        let call = ToolCall::from_text("c", "take", arguments);
        let model = ScriptedModel::new().reply(AssistantMessage::calls([call])).text("done");
        let mut stage = Stage::new(model).tool(Take);
        let run = stage.run().await.unwrap();
        let (answer, kinds) = (&texts(&run.messages)[0], stage.events.kinds());
        let kind = stage.events.find(|event| match event {
            AgentEvent::ToolFailed { failure, .. } => Some(*failure),
            _ => None,
        });
        match outcome {
            Ok(text) => assert_eq!((answer.as_str(), kind), (text, vec![]), "{arguments}"),
            Err(text) => {
                assert!(answer.contains(text), "{arguments}: {answer}");
                assert_eq!(kind, [FailureKind::InvalidArguments], "{arguments}");
                assert!(!kinds.contains(&"tool.started"), "{arguments}: {kinds:?}");
                assert!(kinds.contains(&"tool.invalid_args"), "{arguments}: {kinds:?}");
            }
        }
    }
}
