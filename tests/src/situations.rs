//! Twenty-six situations that a run must survive: a scripted model, and the settings of `RunPolicy::recovering()`.
//!
//! In each the run goes on to its answer, and every call has one result.

use std::time::Duration;

use serde_json::json;
use tinyagents::harness::event::AgentEvent;
use tinyagents::harness::message::ToolCall;
use tinyagents::harness::policy::ToolPolicy;
use tinyagents::prelude::*;
use tinyagents::testkit::ScriptedModel;

use crate::fixture::{Stage, doing, results, texts};

#[tool_type]
#[derive(Debug)]
#[serde(rename_all = "snake_case")]
enum Unit {
    Celsius,
    Kelvin,
}

/// Say what came.
#[tool(read_only)]
fn say(
    n: Option<i64>,
    tags: Option<Vec<String>>,
    unit: Option<Unit>,
    text: Option<String>,
    #[arg(default = 7)] limit: u32,
) -> String {
    format!("{n:?} {tags:?} {unit:?} {text:?} {limit}")
}

/// Take nothing.
#[tool(read_only)]
fn nothing() -> String {
    "ran".into()
}

/// Give nothing back.
#[tool(read_only)]
fn silent() {}

#[tool_type]
#[derive(Debug)]
struct Pair {
    set: std::collections::BTreeSet<u8>,
    bytes: Vec<u8>,
}

/// Give back a set and bytes.
#[tool(read_only)]
fn odd() -> Pair {
    Pair { set: [2, 1].into(), bytes: vec![0, 255] }
}

/// Ask for something that must be there.
#[tool(read_only)]
fn needs(q: String) -> String {
    q
}

/// The results of the calls of one reply, after a run that went on to its answer.
async fn results_of(calls: Vec<ToolCall>) -> Vec<(String, bool)> {
    let late = doing("late", ToolPolicy::read_only(), |_| async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        Ok("late".to_string())
    });
    let breaks = doing("breaks", ToolPolicy::read_only(), |_| async { panic!("oh no") });
    let big = doing("big", ToolPolicy::read_only(), |_| async { Ok("x".repeat(5_000_000)) });
    let mut stage = Stage::new(ScriptedModel::new().calls(calls).text("the answer"));
    stage =
        stage.tool(Say).tool(Nothing).tool(Silent).tool(Odd).tool(Needs).tool(late).tool(breaks).tool(big);
    let run = stage.run().await.unwrap();
    assert_eq!(run.answer().as_deref(), Some("the answer"));
    results(&run.messages).iter().map(|result| (result.text(), result.is_error)).collect()
}

async fn result_of(name: &str, raw: &str) -> (String, bool) {
    results_of(vec![ToolCall::from_text("c", name, raw)]).await.remove(0)
}

#[track_caller]
fn gave(result: (String, bool), wanted: &str) {
    assert_eq!(result, (wanted.to_string(), false));
}

#[track_caller]
fn refused(result: (String, bool), why: &str) {
    assert!(result.1 && result.0.contains(why), "{result:?}");
}

#[tokio::test]
async fn k01_malformed_json_is_answered_with_detail() {
    refused(result_of("say", "{\"n\": 5,}").await, "trailing comma at line 1 column 9");
}

#[tokio::test]
async fn k02_k03_empty_and_null_arguments_of_a_tool_without_parameters_work() {
    for raw in ["", "  \n", "null", "{}"] {
        gave(result_of("nothing", raw).await, "ran");
    }
}

#[tokio::test]
async fn k04_whole_arguments_encoded_twice_are_repaired() {
    gave(result_of("say", "\"{\\\"n\\\": 5}\"").await, "Some(5) None None None 7");
}

#[tokio::test]
async fn k05_a_list_as_a_json_string_is_repaired() {
    gave(result_of("say", r#"{"tags": "[\"a\", \"b\"]"}"#).await, r#"None Some(["a", "b"]) None None 7"#);
}

#[tokio::test]
async fn k06_k07_integers_as_text_or_with_a_zero_fraction_work() {
    gave(result_of("say", r#"{"n": "2"}"#).await, "Some(2) None None None 7");
    gave(result_of("say", r#"{"n": 2.0}"#).await, "Some(2) None None None 7");
}

#[tokio::test]
async fn k08_a_fraction_is_no_integer() {
    refused(result_of("say", r#"{"n": 2.5}"#).await, "`n`: expected integer, got number 2.5");
}

#[tokio::test]
async fn k09_integers_above_2_to_53_are_exact() {
    for raw in [r#"{"n": 9007199254740993}"#, r#"{"n": "9007199254740993"}"#] {
        gave(result_of("say", raw).await, "Some(9007199254740993) None None None 7");
    }
}

#[tokio::test]
async fn k10_null_for_a_defaulted_integer_is_its_default() {
    gave(result_of("say", r#"{"limit": null, "n": null}"#).await, "None None None None 7");
}

#[tokio::test]
async fn k11_an_enum_in_the_wrong_case_is_repaired() {
    gave(result_of("say", r#"{"unit": "Celsius"}"#).await, "None None Some(Celsius) None 7");
}

#[tokio::test]
async fn k12_an_extra_argument_is_refused_with_the_nearest_name() {
    refused(result_of("say", r#"{"limt": 5}"#).await, "`limt`: expected one of `limit`");
}

#[tokio::test]
async fn k13_a_missing_required_argument_is_answered() {
    refused(result_of("needs", "{}").await, "`q`: expected string, got nothing");
}

#[tokio::test]
async fn k14_arguments_that_are_a_list_are_answered() {
    refused(result_of("say", "[1, 2]").await, "the arguments: expected object, got array");
}

#[tokio::test]
async fn k15_nan_is_answered() {
    refused(result_of("say", r#"{"n": NaN}"#).await, "not valid JSON");
}

#[tokio::test]
async fn k16_a_lone_surrogate_becomes_a_replacement_character() {
    gave(result_of("say", r#"{"text": "a\ud83cb"}"#).await, "None None None Some(\"a\u{fffd}b\") 7");
}

#[tokio::test]
async fn k17_an_unknown_tool_is_answered_with_the_nearest() {
    refused(result_of("lok", "{}").await, "call one of: look");
}

#[tokio::test]
async fn k18_a_name_in_another_case_is_repaired() {
    gave(result_of("Say", r#"{"n": 1}"#).await, "Some(1) None None None 7");
}

#[tokio::test]
async fn k19_k20_doubled_and_empty_ids_are_told_apart() {
    let call = |id: &str, n: i64| ToolCall::new(id, "say", json!({ "n": n }));
    let results = results_of(vec![call("c", 1), call("c", 2), call("", 3), call("", 4)]).await;
    let firsts: Vec<_> = results.iter().map(|(text, _)| text.split(' ').next().unwrap()).collect();
    assert_eq!(firsts, ["Some(1)", "Some(2)", "Some(3)", "Some(4)"]);
}

#[tokio::test]
async fn k21_of_parallel_calls_one_that_breaks_leaves_the_others() {
    let calls = ["nothing", "breaks", "silent"].map(|name| ToolCall::new(name, name, json!({})));
    let errors: Vec<_> = results_of(calls.into()).await.into_iter().map(|(_, error)| error).collect();
    assert_eq!(errors, [false, true, false]);
}

#[tokio::test]
async fn k22_of_parallel_calls_one_with_bad_arguments_leaves_the_other() {
    let calls =
        vec![ToolCall::new("a", "say", json!({ "n": "five" })), ToolCall::new("b", "say", json!({ "n": 5 }))];
    let results = results_of(calls).await;
    refused(results[0].clone(), "`n`: expected integer");
    gave(results[1].clone(), "Some(5) None None None 7");
}

#[tokio::test(start_paused = true)]
async fn k23_results_stand_in_call_order_the_slow_one_first() {
    let calls = ["late", "nothing"].map(|name| ToolCall::new(name, name, json!({})));
    let results = results_of(calls.into()).await;
    assert_eq!(results, [("late".to_string(), false), ("ran".to_string(), false)]);
}

#[tokio::test]
async fn k24_a_tool_that_returns_nothing_has_a_result_to_read() {
    let (text, error) = result_of("silent", "{}").await;
    assert!(!text.is_empty() && !error);
}

#[tokio::test]
async fn k25_a_set_and_bytes_are_typed_values() {
    gave(result_of("odd", "{}").await, r#"{"set":[1,2],"bytes":[0,255]}"#);
}

#[tokio::test]
async fn k26_five_megabytes_are_bounded() {
    let (text, error) = result_of("big", "{}").await;
    assert!(!error && text.len() <= 66_000, "{} bytes", text.len());
}

#[tokio::test]
async fn d46_a_name_in_another_spelling_is_dispatched_if_only_one_tool_can_be_meant() {
    let tool = |name: &'static str| {
        doing(name, ToolPolicy::read_only(), move |_| async move { Ok(name.to_string()) })
    };
    for spelt in ["Get-Weather", "getWeather", " get_weather", "GET_WEATHER", "getweather"] {
        let model = ScriptedModel::new().call(spelt, json!({})).text("done");
        let mut stage = Stage::new(model).tool(tool("get_weather"));
        let run = stage.run().await.unwrap();
        assert_eq!(texts(&run.messages), ["get_weather"], "{spelt}");
        let noted = stage.events.find(|event| match event {
            AgentEvent::UnknownToolCall { requested_name, recovery, .. } => {
                Some((requested_name.clone(), recovery.clone()))
            }
            _ => None,
        });
        assert_eq!(noted, [(spelt.to_string(), "repair:get_weather".to_string())]);
    }
    let model = ScriptedModel::new().call("GetWeather", json!({})).text("done");
    let mut stage = Stage::new(model).tool(tool("get_weather")).tool(tool("getweather"));
    let run = stage.run().await.unwrap();
    assert!(texts(&run.messages)[0].contains("unknown tool `GetWeather`"), "of two, none is taken");
}

#[tokio::test]
async fn d46_a_call_under_its_mended_name_is_validated_as_that_tool() {
    let model = ScriptedModel::new().call("Look", json!({ "q": 5 })).text("done");
    let mut stage = Stage::new(model);
    let run = stage.run().await.unwrap();
    assert!(texts(&run.messages)[0].contains("invalid arguments for `look`"));
    assert_eq!(stage.looked.get(), 0);
}
