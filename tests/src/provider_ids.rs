//! What the OpenAI-compatible provider sends is accepted by the provider it is sent to, whatever the history holds.
//!
//! The server is a real one on loopback; what it saw is read back as a transcript and held against the verbatim rules.

use std::collections::{BTreeSet, HashMap};

use proptest::prelude::*;
use serde_json::{Value, json};
use tinyagents::harness::context::RunConfig;
use tinyagents::harness::event::AgentEvent;
use tinyagents::harness::id::ToolName;
use tinyagents::harness::message::{
    AssistantMessage, ContentBlock, Message, ProviderRules, Spelling, ToolCall, ToolMessage,
};
use tinyagents::harness::model::{Model, ModelRequest};
use tinyagents::harness::tool::ToolSchema;
use tinyagents::testkit::ScriptedModel;

use crate::fixture::{Stage, results};
use crate::provider_openai::answers::completion;
use crate::provider_openai::server::{Server, ask};

const OK: &str =
    r#"{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"ok"}}]}"#;

/// The messages that a provider's server is sent.
async fn sent(provider: &str, request: &ModelRequest) -> Vec<Value> {
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n", OK.len());
    let server = Server::once(format!("{head}{OK}")).await;
    let model = server.model().with_provider(provider.to_owned()).streaming(false);
    assert_eq!(model.provider(), provider);
    ask(&model, request).await.reply();
    server.seen().remove(0).body["messages"].as_array().unwrap().clone()
}

fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest { messages: messages.into(), ..ModelRequest::default() }
}

/// Wire messages as a transcript.
fn read(wire: &[Value]) -> Vec<Message> {
    let text = |message: &Value| match &message["content"] {
        Value::Null => Vec::new(),
        Value::String(text) => vec![ContentBlock::text(text.as_str())],
        other => panic!("{other}"),
    };
    let call = |call: &Value| {
        let function = &call["function"];
        let part = |value: &Value| value.as_str().unwrap().to_owned();
        ToolCall::from_text(part(&call["id"]), part(&function["name"]), &part(&function["arguments"]))
    };
    let message = |message: &Value| match message["role"].as_str().unwrap() {
        "system" => Message::System { content: text(message) },
        "user" => Message::User { content: text(message) },
        "assistant" => Message::Assistant(AssistantMessage {
            content: text(message),
            tool_calls: message["tool_calls"].as_array().into_iter().flatten().map(call).collect(),
            provider: None,
        }),
        "tool" => result(message["tool_call_id"].as_str().unwrap(), &text(message)[0].clone()),
        other => panic!("{other}"),
    };
    wire.iter().map(message).collect()
}

fn result(id: &str, content: &ContentBlock) -> Message {
    Message::Tool(ToolMessage {
        tool_call_id: id.into(),
        name: ToolName::new("search").unwrap(),
        content: vec![content.clone()],
        value: None,
        is_error: false,
        artifacts: Vec::new(),
    })
}

fn turn(calls: impl IntoIterator<Item = ToolCall>) -> Vec<Message> {
    let calls: Vec<_> = calls.into_iter().collect();
    let results: Vec<_> = calls
        .iter()
        .map(|call| result(call.id.as_str(), &ContentBlock::text(format!("of {}", call.id))))
        .collect();
    std::iter::once(Message::Assistant(AssistantMessage::calls(calls))).chain(results).collect()
}

fn plain(id: &str) -> ToolCall {
    ToolCall::new(id, "search", json!({}))
}

fn ids(wire: &[Value]) -> Vec<&str> {
    wire.iter()
        .flat_map(|message| {
            let calls = message["tool_calls"].as_array().into_iter().flatten().map(|call| &call["id"]);
            calls.chain(message.get("tool_call_id"))
        })
        .map(|id| id.as_str().unwrap())
        .collect()
}

/// For each provider ids that it takes, and some that it refuses.
fn known_ids() -> Vec<(&'static str, Vec<String>, Vec<String>)> {
    let x = |count: usize| "x".repeat(count);
    let own = |ids: &[&str]| ids.iter().map(ToString::to_string).collect::<Vec<_>>();
    let any = || [own(&["call_1", "a b", "é/:."]), vec![x(1_000)]].concat();
    let forty = || ([own(&["call_1", "é/:."]), vec![x(40)]].concat(), vec![x(41), x(65)]);
    let ((openai, not_openai), (groq, not_groq), (deepseek, not_deepseek)) = (forty(), forty(), forty());
    vec![
        ("openai", openai, not_openai),
        ("groq", groq, not_groq),
        ("deepseek", deepseek, not_deepseek),
        (
            "anthropic",
            [own(&["toolu_01-A"]), vec![x(200)]].concat(),
            own(&["a.b", "functions.f:0", "é", "a b"]),
        ),
        (
            "bedrock",
            [own(&["tooluse_a.b:c-d"]), vec![x(64)]].concat(),
            [own(&["a/b", "é"]), vec![x(65)]].concat(),
        ),
        ("mistral", own(&["abcDEF123"]), own(&["abcDEF12", "abcDEF1234", "abc_EF123", "abcDÉF12"])),
        ("gemini", any(), Vec::new()),
        ("ollama", any(), Vec::new()),
        ("llama.cpp", any(), Vec::new()),
        ("vllm", any(), Vec::new()),
    ]
}

#[tokio::test]
async fn an_id_that_a_provider_takes_is_sent_as_it_is_and_any_other_is_mapped() {
    let known = known_ids();
    assert_eq!(known.len(), ProviderRules::all().len(), "a row for each provider");
    for (provider, taken, refused) in known {
        let own: Vec<_> = taken.iter().chain(&refused).collect();
        let messages = [vec![Message::user("go")], turn(own.iter().map(|id| plain(id)))].concat();
        let wire = sent(provider, &request(messages)).await;
        let shown = ids(&wire);
        let (calls, results) = shown.split_at(own.len());
        assert_eq!(calls, results, "{provider}: results have the ids of their calls");
        assert_eq!(calls[..taken.len()], taken[..], "{provider}");
        let rules = ProviderRules::of(provider).unwrap();
        let takes = |id: &str| rules.wire.ids.as_ref().is_none_or(|rule| rule.accepts(id));
        assert!(calls.iter().all(|id| takes(id)), "{provider}: {calls:?}");
        assert!(!refused.iter().any(|id| takes(id)), "{provider}: {refused:?}");
        assert_eq!(calls.iter().collect::<BTreeSet<_>>().len(), own.len(), "{provider}: {calls:?}");
    }
}

/// A server whose model gives its two calls of every turn the same id, and the same one in each turn.
#[tokio::test]
async fn a_model_that_reuses_its_ids_every_turn_is_understood_by_every_provider() {
    for (provider, taken, refused) in known_ids() {
        for id in [taken.first(), refused.first()].into_iter().flatten() {
            let call = |q: &str| json!({ "id": id, "type": "function", "function": { "name": "look", "arguments": format!("{{\"q\":\"{q}\"}}") } });
            let turn = |n: usize| {
                let calls = json!([call(&format!("tea {n}")), call(&format!("milk {n}"))]);
                completion(&json!({ "content": null, "tool_calls": calls }), "tool_calls")
            };
            let done = completion(&json!({ "content": "done" }), "stop");
            let server = Server::start(vec![turn(0), turn(1), turn(2), done]).await;
            let mut stage = Stage::new(ScriptedModel::new());
            let model = server.model().with_provider(provider).streaming(false);
            stage.harness.register_model("served", model).unwrap();
            let config = RunConfig { model: Some("served".into()), ..RunConfig::default() };
            let ctx = stage.harness.context(config, ());
            let run = stage.harness.invoke_in_context(&(), ctx, vec![Message::user("go")]).await.unwrap();

            // Here the ids are the model's own, told apart, and say so in events, calls and results.
            let own: Vec<_> =
                (1..=6).map(|n| if n == 1 { id.clone() } else { format!("{id}_d{n}") }).collect();
            assert_eq!(calls_of(&run.messages), own, "{provider}");
            let answered: Vec<_> =
                results(&run.messages).iter().map(|r| r.tool_call_id.to_string()).collect();
            assert_eq!(answered, own, "{provider}");
            let started = stage.events.find(|event| match event {
                AgentEvent::ToolStarted { call_id, .. } => Some(call_id.to_string()),
                _ => None,
            });
            assert_eq!(started.iter().collect::<BTreeSet<_>>(), own.iter().collect(), "{provider}");
            let said: Vec<_> = results(&run.messages).iter().map(|result| result.text()).collect();
            assert_eq!(said[..3], ["found tea 0", "found milk 0", "found tea 1"], "{provider}");

            // There each call has one id that the provider takes, the same in every request.
            let seen: Vec<_> =
                server.seen().iter().map(|seen| seen.body["messages"].as_array().unwrap().clone()).collect();
            let last = seen.last().unwrap();
            let rules = ProviderRules::of(provider).unwrap().verbatim();
            assert_eq!(rules.check(&read(last)), Ok(()), "{provider}: {last:?}");
            assert!(seen.iter().all(|wire| last.starts_with(wire)), "{provider}");
            assert_eq!(calls_of(&read(last)).iter().collect::<BTreeSet<_>>().len(), 6, "{provider}");
        }
    }
}

#[tokio::test]
async fn ids_that_mistral_refuses_are_mapped_with_their_results() {
    let own = ["call_1", "abcDEF123", "chatcmpl-tool-0123456789abcdef", "functions.search:0"];
    let messages = [vec![Message::user("go")], turn(own.map(plain))].concat();
    let wire = sent("mistral", &request(messages.clone())).await;
    let shown = ids(&wire);
    assert_eq!(shown[..4], shown[4..], "results have the ids of their calls, in order");
    assert_eq!(shown[1], "abcDEF123", "one that fits is kept");
    assert!(
        shown.iter().all(|id| id.len() == 9 && id.chars().all(|c| c.is_ascii_alphanumeric())),
        "{shown:?}"
    );
    assert_eq!(shown[..4].iter().collect::<BTreeSet<_>>().len(), 4);
    assert_eq!(sent("mistral", &request(messages.clone())).await, wire, "the same each time");
    assert_eq!(ids(&sent("llama.cpp", &request(messages)).await)[..4], own);
}

#[tokio::test]
async fn an_id_that_looks_like_a_mapped_one_is_told_apart() {
    let first = [vec![Message::user("go")], turn([plain("call_1")])].concat();
    let wire = sent("mistral", &request(first.clone())).await;
    let taken = ids(&wire)[0].to_owned();
    let both = [first, turn([plain(&taken)])].concat();
    let wire = sent("mistral", &request(both)).await;
    let shown = ids(&wire);
    assert_eq!(shown[0], taken, "what comes later changes no id");
    assert_ne!(shown[2], taken);
    assert_eq!(shown[2], shown[3]);
}

#[tokio::test]
async fn ids_over_forty_characters_are_mapped_for_openai() {
    let long = "x".repeat(41);
    let longer = "x".repeat(42);
    let fits = "é".repeat(40);
    let messages = [vec![Message::user("go")], turn([plain(&long), plain(&longer), plain(&fits)])].concat();
    for provider in ["openai", "a server that is not known"] {
        let wire = sent(provider, &request(messages.clone())).await;
        let shown = ids(&wire);
        assert!(shown.iter().all(|id| id.chars().count() <= 40), "{shown:?}");
        assert_ne!(shown[0], shown[1]);
        assert_eq!((shown[2], &shown[..3]), (fits.as_str(), &shown[3..]));
    }
}

#[tokio::test]
async fn a_reply_with_more_calls_than_openai_takes_is_split_with_its_results() {
    let calls: Vec<_> = (0..300).map(|n| plain(&format!("c{n}"))).collect();
    let mut messages = [vec![Message::user("go")], turn(calls)].concat();
    let Message::Assistant(reply) = &mut messages[1] else { panic!() };
    reply.content = vec![ContentBlock::text("I look.")];
    let wire = sent("openai", &request(messages.clone())).await;
    let sizes: Vec<_> =
        wire.iter().filter_map(|message| message["tool_calls"].as_array()).map(Vec::len).collect();
    assert_eq!(sizes, [128, 128, 44]);
    let texts = |wire: &[Value]| {
        let said = wire.iter().filter(|message| message["role"] == "assistant");
        said.map(|message| message["content"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(texts(&wire), [json!("I look."), Value::Null, Value::Null], "the text is said once");
    assert_eq!(ProviderRules::open_ai().verbatim().check(&read(&wire)), Ok(()));
    let whole = sent("mistral", &request(messages)).await;
    assert_eq!(whole.len(), 302, "where there is no limit the reply stays whole");
}

#[tokio::test]
async fn mistral_is_sent_a_reply_between_results_and_a_user() {
    let messages = [vec![Message::user("go")], turn([plain("call_1")]), vec![Message::user("and?")]].concat();
    let roles = async |provider| {
        let wire = sent(provider, &request(messages.clone())).await;
        wire.iter().map(|message| message["role"].as_str().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(roles("mistral").await, "user assistant tool assistant user");
    assert_eq!(roles("openai").await, "user assistant tool user");
}

#[tokio::test]
async fn a_past_call_of_no_tool_keeps_a_name_of_no_tool() {
    let long = "a".repeat(200);
    let names = ["a.b", "no such", &long, "", "日本"];
    let calls = names.iter().enumerate().map(|(n, name)| ToolCall::new(format!("c{n}"), *name, json!([1])));
    let messages = [vec![Message::user("go")], turn(calls)].concat();
    let tools = vec![ToolSchema::new("a_b", "", json!({ "type": "object" }))];
    let wire = sent("openai", &ModelRequest { tools: tools.into(), ..request(messages.clone()) }).await;
    let calls = wire[1]["tool_calls"].as_array().unwrap();
    let shown: Vec<_> = calls.iter().map(|call| call["function"]["name"].as_str().unwrap()).collect();
    let rule = ProviderRules::open_ai().wire.names.unwrap();
    assert!(shown.iter().all(|name| rule.accepts(name) && *name != "a_b"), "{shown:?}");
    assert!(shown[0].starts_with("a_b_"), "{shown:?}");
    assert!(calls.iter().all(|call| call["function"]["arguments"] == "{}"));
    let free = sent("llama.cpp", &request(messages)).await;
    assert_eq!(free[1]["tool_calls"][0]["function"]["name"], "a.b");
}

#[test]
fn the_provider_is_known_by_its_address_or_by_name() {
    use tinyagents::provider::openai::OpenAi;
    assert_eq!(OpenAi::new("https://api.mistral.ai/v1", "m").provider(), "mistral");
    assert_eq!(OpenAi::new("https://api.openai.com/v1", "m").provider(), "openai");
    assert_eq!(OpenAi::new("http://127.0.0.1:8080", "m").provider(), "openai");
    assert_eq!(OpenAi::new("http://127.0.0.1:8080", "m").with_provider("llama.cpp").provider(), "llama.cpp");
    for rules in ProviderRules::all() {
        assert_eq!(ProviderRules::of(&rules.provider), Some(rules));
    }
    assert_eq!(ProviderRules::of("nobody"), None);
    assert!(Spelling::portable().accepts("a-b") && !Spelling::portable().accepts("9"));
}

/// A history as runs leave them: ids of any server, made-up names, arguments of any kind, turns that were cut short.
fn histories() -> impl Strategy<Value = Vec<Message>> {
    let name = prop_oneof![
        Just("search".to_owned()),
        "[a-z]{1,5}[./ é]?[a-z]{0,4}",
        "[ab.]{60,70}",
        Just(String::new())
    ];
    let id = prop_oneof![
        3 => "[a-z0-9]{9}", 3 => "call_[a-z0-9]{1,3}", 1 => "[xy]{39,42}", 1 => "functions\\.[a-z]{2}:[0-9]", 1 => "[é ]{1,3}",
    ];
    let arguments = prop_oneof![
        2 => Just(Ok(json!({ "q": 1 }))), 1 => Just(Ok(json!([1]))), 1 => Just(Ok(Value::Null)), 1 => Just(Err("{\"q".to_owned())),
    ];
    let call = (id, name, arguments).prop_map(|(id, name, arguments)| match arguments {
        Ok(arguments) => ToolCall::new(id, name, arguments),
        Err(raw) => ToolCall::invalid(id, name, raw, "no JSON"),
    });
    let calls = prop_oneof![
        20 => prop::collection::vec(call.clone(), 1..5), 1 => prop::collection::vec(call, 125..140),
    ];
    let text = prop_oneof![Just(String::new()), Just(" ".to_owned()), Just("words".to_owned())];
    let piece = prop_oneof![
        3 => (calls, text.clone()).prop_map(|(calls, text)| {
            let mut turn = turn(calls);
            if let Message::Assistant(reply) = &mut turn[0] {
                reply.content = vec![ContentBlock::text(text)];
            }
            turn
        }),
        1 => text.clone().prop_map(|text| vec![Message::assistant(text)]),
        1 => text.prop_map(|text| vec![Message::user(text)]),
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| {
        let mut seen = BTreeSet::new();
        let mut messages = vec![Message::user("go")];
        for piece in pieces {
            // An id stands for one call of a history: a run holds that.
            let fresh: Vec<_> = piece
                .iter()
                .filter_map(Message::as_assistant)
                .flat_map(|reply| &reply.tool_calls)
                .filter(|call| seen.insert(call.id.clone()))
                .cloned()
                .collect();
            match &piece[0] {
                Message::Assistant(reply) if !reply.tool_calls.is_empty() => {
                    let mut turn = turn(fresh);
                    if let Message::Assistant(new) = &mut turn[0] {
                        new.content.clone_from(&reply.content);
                    }
                    messages.extend(turn);
                }
                _ => messages.extend(piece),
            }
        }
        messages
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn every_history_is_sent_as_its_provider_accepts_it(messages in histories()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        for rules in ProviderRules::all() {
            prop_assert_eq!(rules.check(&messages), Ok(()), "the history itself");
            let wire = runtime.block_on(sent(&rules.provider, &request(messages.clone())));
            let back = read(&wire);
            prop_assert_eq!(rules.clone().verbatim().check(&back), Ok(()), "{}: {:?}", rules.provider, wire);
            // Nothing is lost: each call and its result are there, once, in order, under one id.
            let own: Vec<_> = calls_of(&messages);
            let shown: Vec<_> = calls_of(&back);
            prop_assert_eq!(own.len(), shown.len());
            let pairs: HashMap<_, _> = own.iter().zip(&shown).collect();
            prop_assert_eq!(pairs.values().collect::<BTreeSet<_>>().len(), own.len(), "no two ids become one");
            let texts = |messages: &[Message]| -> Vec<String> {
                messages.iter().filter(|m| m.as_tool().is_some()).map(Message::text).collect()
            };
            prop_assert_eq!(texts(&messages), texts(&back));
            // What was sent once is sent again as it was: a provider's cache holds.
            let last = messages.iter().rposition(|m| m.as_assistant().is_some_and(|r| !r.tool_calls.is_empty()));
            // A request ends in results or in words of a user: an empty message of theirs is not sent to everyone.
            let asks = |m: &Message| m.as_assistant().is_none() && !m.text().trim().is_empty();
            if let Some(last) = last.filter(|last| asks(&messages[last - 1])) {
                let earlier = runtime.block_on(sent(&rules.provider, &request(messages[..last].to_vec())));
                prop_assert_eq!(&wire[..earlier.len()], &earlier[..], "{}", rules.provider);
            }
        }
    }
}

fn calls_of(messages: &[Message]) -> Vec<String> {
    let replies = messages.iter().filter_map(Message::as_assistant);
    replies.flat_map(|reply| &reply.tool_calls).map(|call| call.id.to_string()).collect()
}
