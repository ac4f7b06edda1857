//! What a call sends, and what comes of it.

use std::fmt;

use serde_json::{Value, json};
use tinyagents::harness::message::ToolCall;
use tinyagents::prelude::*;
use tinyagents::testkit::{self, ScriptedModel};

use crate::fixture::results;

/// Add.
#[tool(read_only)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Say when it is.
#[tool(read_only)]
fn now() -> &'static str {
    "noon"
}

/// Say it often.
#[tool(read_only)]
fn repeat(#[arg(default = 3)] times: u8, note: Option<String>) -> String {
    format!("{times}{note:?}")
}

async fn text(tool: &(impl Tool<()> + Clone + 'static), arguments: Value) -> (bool, String) {
    let result = testkit::call(tool, &(), arguments).await.unwrap();
    let text: Vec<_> = result.content.iter().map(|block| format!("{block:?}")).collect();
    (result.is_error, text.concat())
}

/// The transcript of a run with these calls.
async fn run(calls: impl IntoIterator<Item = ToolCall>) -> Vec<Message> {
    let mut harness: AgentHarness<()> = AgentHarness::new();
    let model = ScriptedModel::new().calls(calls).text("done");
    harness.register_model("default", model).unwrap();
    harness.register_tool(Add).unwrap().register_tool(Now).unwrap().register_tool(Repeat).unwrap();
    harness.with_policy(RunPolicy::recovering());
    let run = harness.invoke(&(), vec![Message::user("go")]).await.unwrap();
    assert_eq!(run.answer().as_deref(), Some("done"), "the run goes on");
    run.messages.to_vec()
}

#[tokio::test]
async fn m02_a_wrong_type_is_a_result_that_names_the_argument_and_the_run_goes_on() {
    let messages = run([ToolCall::new("c", "add", json!({ "a": "x", "b": 2 }))]).await;
    let result = results(&messages)[0];
    assert!(result.is_error);
    assert!(result.text().contains("`a`: expected integer, got string \"x\""), "{}", result.text());
}

#[tokio::test]
async fn m23_m24_m38_every_spelling_of_nothing_is_an_empty_object() {
    for name in ["now", "repeat"] {
        let calls = ["", "  ", "\n", "null", "{}"].map(|raw| ToolCall::from_text("", name, raw));
        let messages = run(calls).await;
        assert_eq!(results(&messages).len(), 5);
        for result in results(&messages) {
            assert!(
                !result.is_error && ["noon", "3None"].contains(&result.text().as_str()),
                "{}",
                result.text()
            );
        }
    }
    assert!(!testkit::call(&Now, &(), Value::Null).await.unwrap().is_error);
}

#[derive(Debug)]
struct MyError;

impl fmt::Display for MyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not today")
    }
}

impl std::error::Error for MyError {}

type AnyError = Box<dyn std::error::Error + Send + Sync>;

/// Fail in own words.
#[tool]
async fn typed() -> Result<String, MyError> {
    Err(MyError)
}

/// Fail in any words.
#[tool]
async fn erased() -> Result<String, AnyError> {
    Err(MyError)?
}

#[tokio::test]
async fn m25_typed_and_erased_errors_are_both_results() {
    let (failed, words) = text(&Typed, json!({})).await;
    assert!(failed && words.contains("error: not today"), "{words}");
    let (failed, words) = text(&Erased, json!({})).await;
    assert!(failed && !words.contains("not today"), "its words may hold anything: {words}");
}

#[tokio::test]
async fn m29_the_history_keeps_an_empty_object() {
    let messages = run([ToolCall::from_text("c", "now", "{}"), ToolCall::from_text("d", "now", "")]).await;
    let calls = &messages[1].as_assistant().unwrap().tool_calls;
    assert!(calls.iter().all(|call| call.arguments == json!({})), "{calls:?}");
}

#[tokio::test]
async fn m33_an_unknown_argument_is_named_with_those_that_exist() {
    let (failed, words) = text(&Add, json!({ "a": 1, "b": 2, "zz": 3 })).await;
    assert!(failed && words.contains("expected one of `a`, `b`, got unknown argument `zz`"), "{words}");
}

#[tokio::test]
async fn m34_equal_duplicates_pass_and_differing_ones_do_not() {
    let same = ToolCall::from_text("c", "add", r#"{"a": 1, "b": 2, "a": 1}"#);
    let other = ToolCall::from_text("d", "add", r#"{"a": 1, "b": 2, "a": 3}"#);
    let messages = run([same, other]).await;
    let results = results(&messages);
    assert_eq!((results[0].is_error, results[0].text().as_str()), (false, "3"));
    assert!(
        results[1].is_error && results[1].text().contains("key `a` appears twice"),
        "{}",
        results[1].text()
    );
}

#[tokio::test]
async fn m39_an_error_shows_the_expected_shape() {
    let messages = run([ToolCall::new("c", "add", json!({ "a": 1 }))]).await;
    let text = results(&messages)[0].text();
    let schema = Add::spec().input_schema.to_string();
    assert!(text.contains("`b`: expected integer, got nothing") && text.contains(&schema), "{text}");
}

#[tokio::test]
async fn m43_an_integral_float_is_an_integer_and_nothing_is_lost() {
    for (given, expected) in [(json!(5.0), "6"), (json!(900000.0), "900001"), (json!(-3.0), "-2")] {
        let (failed, words) = text(&Add, json!({ "a": given, "b": 1 })).await;
        assert!(!failed && words.contains(expected), "{words}");
    }
    for given in [json!(5.5), json!(""), json!("5x"), json!(1e300), json!([5])] {
        assert!(text(&Add, json!({ "a": given, "b": 1 })).await.0, "{given}");
    }
}

#[tokio::test]
async fn m44_a_value_that_does_not_fit_never_becomes_the_default() {
    for given in [json!("x"), json!(-1), json!(256), json!([]), json!(1.5)] {
        let (failed, words) = text(&Repeat, json!({ "times": given })).await;
        assert!(failed && words.contains("`times`"), "{words}");
    }
    assert!(text(&Repeat, json!({ "note": 5 })).await.0);
    assert!(!text(&Repeat, json!({ "times": null })).await.0, "`null` is left out");
}

#[tokio::test]
async fn more_arguments_that_are_no_object() {
    for arguments in [json!([1, 2]), json!("a"), json!(5), json!(true)] {
        for failed in [text(&Add, arguments.clone()).await.0, text(&Now, arguments.clone()).await.0] {
            assert!(failed, "{arguments}");
        }
    }
    assert!(text(&Now, json!({ "zz": 1 })).await.0, "an unknown key of a tool without parameters");
    assert!(text(&Add, Value::Null).await.1.contains("`a`"), "and nothing at all, where something is needed");
}
