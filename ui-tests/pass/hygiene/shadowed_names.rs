//! A user's own `Option`, `Result`, `String`, `Vec`, `Box` and prelude traits do not matter.

#![allow(dead_code)]

mod kit {
    use ::tinyagents::tool;

    struct Option;
    struct Result;
    struct Some;
    struct Ok;
    struct Err;
    struct None;
    struct String;
    struct Vec;
    struct Box;
    struct Pin;
    struct Future;
    struct Send;
    struct Sync;
    struct Clone;
    struct Copy;
    struct Debug;
    struct Default;
    struct From;
    struct Into;
    struct Iterator;
    struct Tool;
    struct ToolSpec;
    struct Arg;
    mod std {}
    mod core {}
    mod tinyagents {}
    mod __private {}

    pub struct S(pub u8);
    pub struct C;

    /// Shadowed.
    #[tool(read_only, timeout = "1s", redact("x"), format = "ptype")]
    pub async fn shadowed(call: &str, #[arg(default = "x")] state: &str, #[inject] s: &S) -> u64 {
        let _ = (call, state, s);
        1
    }

    /// The function is named like a variable of the macro.
    #[tool(type = CallTool)]
    pub fn call(runtime: u8, arguments: u8, cx: u8, good: u8) -> u8 {
        runtime + arguments + cx + good
    }

    /// Another one.
    #[tool]
    pub async fn output(a0: u8, a1: u8, __t: u8) -> u8 {
        a0 + a1 + __t
    }
}

use tinyagents::prelude::*;
use tinyagents::testkit;


#[tokio::main(flavor = "current_thread")]
async fn main() {
    assert_eq!(kit::Shadowed::PARAMETERS, ["call", "state"]);
    assert!(kit::Shadowed::policy().side_effects.read_only);
    let result = testkit::call(&kit::Shadowed, std::sync::Arc::new(kit::S(1)), json!({ "call": "c" })).await.unwrap();
    assert_eq!(result.value, Some(json!(1)));
    let arguments = json!({ "runtime": 1, "arguments": 2, "cx": 3, "good": 4 });
    assert_eq!(testkit::call(&kit::CallTool, &(), arguments).await.unwrap().value, Some(json!(10)));
    let arguments = json!({ "a0": 1, "a1": 2, "__t": 3 });
    assert_eq!(testkit::call(&kit::Output, &(), arguments).await.unwrap().value, Some(json!(6)));
}
