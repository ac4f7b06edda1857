//! Transcripts: what providers accept, and what others wrote made whole.

mod repair;

use serde_json::{Value, json};
use tinyagents::harness::context::{RunConfig, RunContext};
use tinyagents::harness::event::AgentEvent;
use tinyagents::harness::message::{
    AssistantMessage, ContentBlock, History, Message, ProblemKind, ProviderRules, Spelling, ToolCall,
    WireRules,
};
use tinyagents::harness::policy::{SandboxMode, ToolPolicy, ToolRuntimePolicy};
use tinyagents::testkit::ScriptedModel;

use crate::fixture::{Stage, assert_whole, doing, results};

/// A reply that makes calls of `look`.
pub fn calls<const N: usize>(ids: [&str; N]) -> Message {
    Message::Assistant(AssistantMessage::calls(ids.map(|id| ToolCall::new(id, "look", json!({ "q": id })))))
}

/// A result of `look`.
pub fn result(id: &str, text: &str) -> Message {
    named(id, "look", text)
}

pub fn named(id: &str, name: &str, text: &str) -> Message {
    let content = json!([{ "type": "text", "text": text }]);
    let message = json!({ "role": "tool", "tool_call_id": id, "name": name, "content": content });
    serde_json::from_value(message).unwrap()
}

type Problems = Vec<(usize, ProblemKind)>;

fn problems(rules: &ProviderRules, messages: &[Message]) -> Problems {
    let problems = rules.check(messages).err().unwrap_or_default();
    problems.iter().map(|problem| (problem.index, problem.kind)).collect()
}

#[test]
fn what_every_provider_refuses_is_found_for_each() {
    use ProblemKind::*;
    let go = || Message::user("go");
    let cases: Vec<(Vec<Message>, Problems)> = vec![
        (vec![go(), calls(["a", "b"]), result("a", "1"), result("b", "2"), go()], vec![]),
        (vec![go(), calls(["a", "b"]), result("a", "1"), go()], vec![(1, Unanswered)]),
        (vec![go(), calls(["a"])], vec![(1, Unanswered)]),
        (vec![go(), calls(["a"]), go(), result("a", "1")], vec![(1, Unanswered), (3, Unasked)]),
        (vec![go(), calls(["a"]), result("a", "1"), result("a", "1")], vec![(3, Unasked)]),
        (vec![go(), calls(["a", "b"]), result("b", "2"), result("a", "1")], vec![(2, OutOfOrder)]),
        (vec![go(), calls(["a"]), result("a", "")], vec![(2, EmptyResult)]),
        (vec![go(), calls([""]), result("", "1")], vec![(1, EmptyId)]),
        (vec![go(), calls(["a", "a"]), result("a", "1"), result("a", "2")], vec![(1, DoubledId)]),
    ];
    for rules in ProviderRules::all() {
        for (messages, expected) in &cases {
            assert_eq!(problems(&rules, messages), *expected, "{}: {messages:?}", rules.provider);
        }
    }
    let error = ProviderRules::mistral().check(&cases[1].0).unwrap_err();
    assert_eq!(error[0].to_string(), "message 1: tool call `b`: it has no result right after it");
}

#[test]
fn what_some_providers_refuse_is_found_for_those() {
    let broken_by = |messages: &[Message], verbatim: bool| -> Vec<(String, ProblemKind)> {
        let sets = ProviderRules::all().into_iter();
        let sets = sets.map(|rules| if verbatim { rules.verbatim() } else { rules });
        let found = sets.flat_map(|rules| {
            let kinds = problems(&rules, messages);
            kinds.into_iter().map(move |(_, kind)| (rules.provider.to_string(), kind))
        });
        found.collect()
    };
    let by = |kind: ProblemKind, providers: &[&str]| -> Vec<(String, ProblemKind)> {
        providers.iter().map(|provider| (provider.to_string(), kind)).collect()
    };
    let go = || Message::user("go");
    let call = |id: &str, name: &str, arguments: Value| {
        let reply = AssistantMessage::calls([ToolCall::new(id, name, arguments)]);
        vec![go(), Message::Assistant(reply), named(id, name, "ok"), Message::assistant("done")]
    };
    let first = [Message::system("be kind"), Message::assistant("hello"), go()];
    assert_eq!(broken_by(&first, false), by(ProblemKind::NotUserFirst, &["anthropic", "gemini", "bedrock"]));
    let again = [go(), calls(["a"]), result("a", "1"), calls(["a"]), result("a", "2")];
    assert_eq!(broken_by(&again, false), by(ProblemKind::DoubledId, &["anthropic"]));

    // What an adapter spells anew is a problem only of a transcript that is sent as it stands.
    let fits = call("abcdefghi", "look", json!({}));
    assert_eq!(broken_by(&fits, true), []);
    let cases = [
        (call("a_b-c", "look", json!({})), ProblemKind::IdSpelling, &["mistral"][..]),
        (call("a:b", "look", json!({})), ProblemKind::IdSpelling, &["anthropic", "mistral"]),
        (
            call(&"x".repeat(41), "look", json!({})),
            ProblemKind::IdSpelling,
            &["openai", "mistral", "groq", "deepseek"],
        ),
        (
            call(&"x".repeat(65), "look", json!({})),
            ProblemKind::IdSpelling,
            &["openai", "mistral", "bedrock", "groq", "deepseek"],
        ),
        (
            call("abcdefghi", "look.up", json!({})),
            ProblemKind::NameSpelling,
            &["openai", "anthropic", "mistral", "bedrock", "groq", "deepseek"],
        ),
        (call("abcdefghi", "1st", json!({})), ProblemKind::NameSpelling, &["gemini"]),
        (
            call("abcdefghi", &"x".repeat(65), json!({})),
            ProblemKind::NameSpelling,
            &["openai", "gemini", "mistral", "bedrock", "groq", "deepseek"],
        ),
        (
            call("abcdefghi", "look", json!("q=tea")),
            ProblemKind::ArgumentsNotObject,
            &["anthropic", "gemini", "bedrock", "ollama", "llama.cpp"],
        ),
        (
            vec![go(), calls(["abcdefghi"]), result("abcdefghi", "1"), go()],
            ProblemKind::UserAfterResults,
            &["mistral"],
        ),
        (
            [vec![go(), Message::assistant("wait")], fits[1..].to_vec()].concat(),
            ProblemKind::CallsAfterReply,
            &["gemini"],
        ),
        (
            vec![go(), Message::Assistant(AssistantMessage::default())],
            ProblemKind::EmptyMessage,
            &["anthropic", "gemini", "mistral", "bedrock"],
        ),
    ];
    for (messages, kind, providers) in cases {
        assert_eq!(broken_by(&messages, true), by(kind, providers), "{messages:?}");
        assert_eq!(broken_by(&messages, false), [], "an adapter mends it: {messages:?}");
    }
    let ids: Vec<String> = (0..129).map(|n| format!("abcdef{n:03}")).collect();
    let mut many = vec![
        go(),
        Message::Assistant(AssistantMessage::calls(
            ids.iter().map(|id| ToolCall::new(id.as_str(), "look", json!({}))),
        )),
    ];
    many.extend(ids.iter().map(|id| result(id, "ok")));
    assert_eq!(broken_by(&many, true), by(ProblemKind::TooManyCalls, &["openai", "groq", "deepseek"]));
}

#[test]
fn an_application_states_rules_of_its_own() {
    let mut rules = ProviderRules::new("ours");
    rules.wire.ids = Some(Spelling { also: Some("#".into()), min: 2, max: 3, word: true });
    let problem = |id: &str| {
        let messages = [Message::user("go"), calls([id]), result(id, "ok")];
        assert_eq!(problems(&rules, &messages), []);
        !problems(&rules.clone().verbatim(), &messages).is_empty()
    };
    let refused = ["a", "abcd", "1ab", "#ab", "a-b"].map(problem);
    assert_eq!((refused, ["ab", "a#1"].map(problem)), ([true; 5], [false; 2]));
}

#[tokio::test]
async fn whatever_the_loop_writes_is_accepted_by_every_provider() {
    let ctx = RunContext::default();
    let queue = ctx.handle();
    let call = |id: &str, q: &str| ToolCall::new(id, "look", json!({ "q": q }));
    let model = ScriptedModel::new()
        .calls([
            ToolCall::from_text("call_1", "look", "{\"q\": "),
            ToolCall::new("call_1", "no such tool!", json!(["tea"])),
            ToolCall::new("", "", json!(null)),
            call(&"long ".repeat(30), "tea"),
            ToolCall::new("e", "silent", json!({})),
        ])
        .respond(move |_| {
            queue.queue("and coffee").unwrap();
            Ok(AssistantMessage::calls([ToolCall::new("call_1", "look", json!({ "q": "x" }))]).into())
        })
        .reply(AssistantMessage::default());
    let stage =
        Stage::new(model).tool(doing("silent", ToolPolicy::default(), |_| async { Ok(String::new()) }));
    let run = stage.harness.invoke_in_context(&(), ctx, vec![Message::user("go")]).await.unwrap();
    assert_whole(&run.messages);
    assert_eq!(results(&run.messages).len(), 6);
    let history = History::from_messages(run.messages).unwrap();
    for rules in ProviderRules::all() {
        assert_eq!(history.check(&rules), Ok(()));
        let takes_anything = rules.wire == WireRules::default();
        assert_eq!(history.check(&rules.verbatim()).is_ok(), takes_anything, "it is as odd as it looks");
    }
}

#[tokio::test]
async fn b11_ids_that_an_earlier_turn_or_run_used_are_made_unique() {
    let call = |id: &str, q: &str| ToolCall::new(id, "look", json!({ "q": q }));
    let script = || {
        ScriptedModel::new()
            .calls([call("call_1", "a"), call("", "b")])
            .calls([call("call_1", "c"), call("", "d"), call("call_1", "e")])
            .text("done")
    };
    let ids = |messages: &[Message]| -> Vec<String> {
        results(messages).iter().map(|result| format!("{} {}", result.tool_call_id, result.text())).collect()
    };
    let first = Stage::new(script()).run().await.unwrap();
    assert_eq!(
        ids(&first.messages),
        ["call_1 found a", "call_1_1 found b", "call_1_d2 found c", "call_2_1 found d", "call_1_d3 found e"]
    );
    let continued = || async {
        let stage = Stage::new(script());
        let messages = [first.messages.clone(), vec![Message::user("again")]].concat();
        let run = stage.harness.invoke(&(), messages).await.unwrap();
        assert_eq!(stage.looked.get(), 5, "every call ran");
        run.messages
    };
    let second = continued().await;
    assert_whole(&second);
    assert_eq!(
        ids(&second)[5..],
        [
            "call_1_d4 found a",
            "call_1_1_d2 found b",
            "call_1_d5 found c",
            "call_2_1_d2 found d",
            "call_1_d6 found e"
        ]
    );
    assert_eq!(continued().await, second, "the same replay gives the same ids");
}

#[tokio::test]
async fn b15_a_call_has_one_id_from_its_first_event_to_the_transcript() {
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let log = seen.clone();
    let tool = doing("act", ToolPolicy::default(), move |call| {
        log.lock().unwrap().push(call.call_id.to_string());
        async move {
            call.events.emit(AgentEvent::Custom { name: "note".into(), data: json!(call.call_id.as_str()) });
            Ok("acted".into())
        }
    });
    let act = |id: &str, n: u32| ToolCall::new(id, "act", json!({ "n": n }));
    let model =
        ScriptedModel::new().calls([act("", 1), act("x", 2), act("x", 3)]).calls([act("x", 4)]).text("done");
    let mut stage = Stage::new(model).tool(tool);
    let run = stage.run().await.unwrap();
    let expected = ["call_1_0", "x", "x_d2", "x_d3"];
    assert_eq!(*seen.lock().unwrap(), expected);
    let asked: Vec<_> = run
        .messages
        .iter()
        .filter_map(Message::as_assistant)
        .flat_map(|reply| reply.tool_calls.iter().map(|call| call.id.to_string()))
        .collect();
    assert_eq!(asked, expected);
    let answered: Vec<_> =
        results(&run.messages).iter().map(|result| result.tool_call_id.to_string()).collect();
    assert_eq!(answered, expected);
    let records = stage.events.records();
    for kind in ["tool.requested", "tool.started", "tool.completed"] {
        let ids: Vec<_> = records
            .iter()
            .filter(|record| record.event.kind() == kind)
            .map(|record| {
                serde_json::to_value(&record.event).unwrap()["call_id"].as_str().unwrap().to_string()
            })
            .collect();
        assert_eq!(ids, expected, "{kind}");
    }
    let requests = stage.model.requests();
    let shown: Vec<_> =
        results(&requests[2].messages).iter().map(|result| result.tool_call_id.to_string()).collect();
    assert_eq!(shown, expected, "what the model is shown");
}

#[tokio::test]
async fn a5_a_denied_call_that_was_saved_is_denied_once_and_goes_on() {
    let policy = ToolPolicy::read_only()
        .with_runtime(ToolRuntimePolicy { sandbox: SandboxMode::Required, ..Default::default() });
    let gated = || doing("gated", policy.clone(), |_| async { Ok("ran".into()) });
    let mut stage = Stage::new(ScriptedModel::new().call("gated", json!({})).text("a pity")).tool(gated());
    let run = stage.run().await.unwrap();
    let saved = serde_json::to_string(&run.messages).unwrap();

    let denials = |messages: &[Message]| {
        results(messages).iter().filter(|result| result.is_error && result.text().contains("denied")).count()
    };
    let go_on = |saved: String| async move {
        let mut messages: Vec<Message> = serde_json::from_str(&saved).unwrap();
        messages.push(Message::user("and now?"));
        let stage = Stage::new(ScriptedModel::new().call("look", json!({ "q": "tea" })).text("done"));
        let ctx = RunContext::new(RunConfig::default(), ());
        let run = stage.harness.invoke_in_context(&(), ctx, messages).await.unwrap();
        assert_whole(&run.messages);
        assert_eq!(run.answer().as_deref(), Some("done"));
        run.messages
    };
    let messages = go_on(saved.clone()).await;
    assert_eq!((denials(&messages), results(&messages).len()), (1, 2));
    assert_eq!(serde_json::to_string(&messages[..run.messages.len()]).unwrap(), saved, "not a byte changed");

    // As other software may have saved it: optional fields left out, or there and unknown, or null.
    let mut values: Vec<Value> = serde_json::from_str(&saved).unwrap();
    for value in &mut values {
        let fields = value.as_object_mut().unwrap();
        fields.insert("approval".into(), json!({ "state": "denied" }));
        match fields["role"].as_str().unwrap() {
            "assistant" => {
                fields.remove("content");
                fields.insert("provider".into(), Value::Null);
            }
            "tool" => {
                fields.remove("artifacts");
                fields.insert("value".into(), Value::Null);
            }
            _ => {}
        }
    }
    assert_eq!(denials(&go_on(serde_json::to_string(&values).unwrap()).await), 1);
}

#[test]
fn a_result_without_anything_to_read_is_empty() {
    let with = |content: Vec<ContentBlock>| {
        let Message::Tool(mut message) = result("a", "x") else { unreachable!() };
        message.content = content;
        problems(&ProviderRules::open_ai(), &[Message::user("go"), calls(["a"]), Message::Tool(message)])
    };
    assert_eq!(with(vec![]), [(2, ProblemKind::EmptyResult)]);
    assert_eq!(with(vec![ContentBlock::Reasoning { text: "hm".into() }]), [(2, ProblemKind::EmptyResult)]);
    assert_eq!(with(vec![ContentBlock::json(json!([]))]), []);
}
