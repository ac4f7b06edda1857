//! What is sent, compared by value.

use std::collections::BTreeMap;
use std::process::Command;

use tinyagents::harness::id::ToolName;
use tinyagents::harness::message::{
    AssistantMessage, ContentBlock, Message, ProviderMetadata, ToolCall, ToolMessage,
};
use tinyagents::harness::model::{Model, ModelError, ModelRequest, ModelSettings, ToolChoice};
use tinyagents::harness::tool::{ToolFormat, ToolSchema};
use tinyagents::provider::openai::{NamedToolChoice, OpenAi};
use tinyagents::serde_json::{Value, json};

use super::answers::completion;
use super::server::{Server, ask, hello};

fn ok() -> Vec<u8> {
    completion(&json!({ "content": "ok" }), "stop")
}

/// The body that a model sends for a request.
async fn body(request: &ModelRequest, set: impl FnOnce(OpenAi) -> OpenAi) -> Value {
    let server = Server::once(ok()).await;
    ask(&set(server.model()), request).await.reply();
    server.seen().remove(0).body
}

fn object() -> Value {
    json!({ "type": "object", "properties": {} })
}

fn with_tools(tool_choice: ToolChoice) -> ModelRequest {
    let tools = vec![
        ToolSchema::new("search", "Search.", object()),
        ToolSchema::new("lookup_v2", "", object()).with_format(ToolFormat::Xml),
    ];
    ModelRequest {
        tools: tools.into(),
        aliases: BTreeMap::from([(ToolName::new("lookup").unwrap(), "lookup_v2".to_owned())]).into(),
        settings: ModelSettings { tool_choice, ..ModelSettings::default() },
        ..hello()
    }
}

fn result(id: &str, text: &str) -> Message {
    Message::Tool(ToolMessage {
        tool_call_id: id.into(),
        name: ToolName::new("search").unwrap(),
        content: vec![ContentBlock::text(text)],
        value: None,
        is_error: false,
        artifacts: Vec::new(),
    })
}

#[tokio::test]
async fn a_plain_request_has_no_word_about_tools() {
    let mut request = hello();
    request.settings.tool_choice = ToolChoice::Required;
    request.settings.parallel_tool_calls = Some(true);
    let messages = json!([{ "role": "user", "content": "Hello." }]);
    let expected = json!({
        "model": "small", "messages": messages, "stream": true, "stream_options": { "include_usage": true },
    });
    assert_eq!(body(&request, |model| model).await, expected);
    let expected = json!({ "model": "small", "messages": messages, "stream": false });
    assert_eq!(body(&request, |model| model.streaming(false)).await, expected);
}

#[tokio::test]
async fn everything_in_a_request_is_sent() {
    let image = ContentBlock::Image { media_type: "image/png".into(), data: "AAAA".into() };
    let user =
        vec![ContentBlock::text("What is this?"), image.clone(), ContentBlock::json(json!({ "a": 1 }))];
    let reply = AssistantMessage {
        content: vec![ContentBlock::text("I look.")],
        tool_calls: vec![
            ToolCall::new("c1", "search", json!({ "query": "cat" })),
            ToolCall::invalid("c2", "lookup", "{\"quer", "cut off"),
            ToolCall::new("c3", "no such tool!", json!([1])),
        ],
        provider: None,
    };
    let request = ModelRequest {
        messages: vec![
            Message::system("Be brief."),
            Message::User { content: user },
            Message::Assistant(reply),
            result("c1", "a cat"),
            result("c2", " "),
            result("c3", "unknown tool"),
            Message::Assistant(AssistantMessage::calls([ToolCall::new("c4", "search", json!({}))])),
            result("c4", "nothing"),
            Message::assistant("A cat."),
        ]
        .into(),
        settings: ModelSettings {
            system: Some("You are a guide.".into()),
            temperature: Some(0.5),
            max_tokens: Some(64),
            stop: vec!["END".into()],
            seed: Some(7),
            parallel_tool_calls: Some(false),
            extra: json!({ "top_k": 3, "temperature": 0.25 }).as_object().unwrap().clone(),
            ..ModelSettings::default()
        },
        ..with_tools(ToolChoice::Auto)
    };
    let call = |id: &str, name: &str, arguments: &str| json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } });
    let expected = json!({
        "model": "small",
        "messages": [
            { "role": "system", "content": "You are a guide." },
            { "role": "system", "content": "Be brief." },
            { "role": "user", "content": [
                { "type": "text", "text": "What is this?" },
                { "type": "image_url", "image_url": { "url": "data:image/png;base64,AAAA" } },
                { "type": "text", "text": "{\"a\":1}" },
            ] },
            { "role": "assistant", "content": "I look.", "tool_calls": [
                call("c1", "search", "{\"query\":\"cat\"}"),
                call("c2", "lookup_v2", "{}"),
                call("c3", "no_such_tool_", "{}"),
            ] },
            { "role": "tool", "tool_call_id": "c1", "content": "a cat" },
            { "role": "tool", "tool_call_id": "c2", "content": "(no output)" },
            { "role": "tool", "tool_call_id": "c3", "content": "unknown tool" },
            { "role": "assistant", "content": null, "tool_calls": [call("c4", "search", "{}")] },
            { "role": "tool", "tool_call_id": "c4", "content": "nothing" },
            { "role": "assistant", "content": "A cat." },
        ],
        "tools": [
            { "type": "function", "function": { "name": "search", "description": "Search.", "parameters": object() } },
            { "type": "function", "function": { "name": "lookup_v2", "parameters": object() } },
        ],
        "parallel_tool_calls": false,
        "max_tokens": 64,
        "stop": ["END"],
        "seed": 7,
        "stream": false,
        "top_k": 3,
        "temperature": 0.25,
    });
    assert_eq!(body(&request, |model| model.streaming(false)).await, expected);
}

#[tokio::test]
async fn a_tool_choice_is_sent_in_the_words_of_the_server() {
    let choice = async |choice| body(&with_tools(choice), |model| model).await.get("tool_choice").cloned();
    assert_eq!(choice(ToolChoice::Auto).await, None);
    assert_eq!(choice(ToolChoice::None).await, Some("none".into()));
    assert_eq!(choice(ToolChoice::Required).await, Some("required".into()));
    let named = json!({ "type": "function", "function": { "name": "lookup_v2" } });
    assert_eq!(choice(ToolChoice::Named("lookup".into())).await, Some(named));

    let only = |model: OpenAi| model.named_tool_choice(NamedToolChoice::OnlyThatTool);
    let sent = body(&with_tools(ToolChoice::Named("lookup".into())), only).await;
    assert_eq!(sent["tool_choice"], "required");
    assert_eq!(sent["tools"].as_array().unwrap().len(), 1);
    assert_eq!(sent["tools"][0]["function"]["name"], "lookup_v2");
}

#[tokio::test]
async fn a_named_tool_that_is_not_shown_is_refused_before_anything_is_sent() {
    let server = Server::once(ok()).await;
    let request = with_tools(ToolChoice::Named("missing".into()));
    let error = ask(&server.model(), &request).await.error();
    assert!(error.to_string().contains("`missing`"), "{error}");
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn reasoning_goes_back_in_its_field_with_the_calls_it_led_to() {
    for field in ["reasoning_content", "reasoning"] {
        let message = json!({ "content": null, field: "Let me look.", "tool_calls": [
            { "id": "c1", "type": "function", "function": { "name": "search", "arguments": "{}" } },
        ] });
        let server = Server::start(vec![completion(&message, "tool_calls"), ok()]).await;
        let reply = ask(&server.model(), &hello()).await.reply().message;
        let messages = vec![Message::user("Hello."), Message::Assistant(reply), result("c1", "found")];
        let request = ModelRequest { messages: messages.into(), ..ModelRequest::default() };
        assert_eq!(body(&request, |model| model).await["messages"][1][field], "Let me look.");
        let silent = body(&request, |model| model.send_reasoning(false)).await;
        assert_eq!(silent["messages"][1].get(field), None);
    }
}

#[tokio::test]
async fn reasoning_without_calls_or_of_another_provider_stays() {
    let thought = ContentBlock::Reasoning { text: "Hm.".into() };
    let data = json!({ "reasoning_field": "reasoning_content" });
    let metadata = |provider: &str| Some(ProviderMetadata { provider: provider.into(), data: data.clone() });
    let plain = AssistantMessage {
        content: vec![thought.clone(), ContentBlock::text("Hi.")],
        provider: metadata("openai"),
        ..AssistantMessage::default()
    };
    let foreign = AssistantMessage {
        content: vec![thought],
        tool_calls: vec![ToolCall::new("c1", "search", json!({}))],
        provider: metadata("other"),
    };
    let messages = vec![Message::Assistant(plain), Message::Assistant(foreign), result("c1", "found")];
    let sent =
        body(&ModelRequest { messages: messages.into(), ..ModelRequest::default() }, |model| model).await;
    assert_eq!(sent["messages"][0], json!({ "role": "assistant", "content": "Hi." }));
    assert_eq!(sent["messages"][1].get("reasoning_content"), None);
}

#[tokio::test]
async fn key_and_headers_are_sent() {
    let server = Server::once(ok()).await;
    let model = server.model().api_key("sk-secret-0123456789\n").header("x-team", "blue");
    ask(&model, &hello()).await.reply();
    let head = server.seen().remove(0).head.to_ascii_lowercase();
    for line in
        ["authorization: bearer sk-secret-0123456789", "x-team: blue", "content-type: application/json"]
    {
        assert!(head.lines().any(|sent| sent == line), "{line} is not in {head}");
    }
}

#[tokio::test]
async fn a_base_url_is_understood_with_and_without_a_path() {
    let server = Server::once(ok()).await;
    for (base, path) in [
        ("", "/v1/chat/completions"),
        ("/", "/v1/chat/completions"),
        ("/v1", "/v1/chat/completions"),
        ("/v1/", "/v1/chat/completions"),
        ("/openai/v3//", "/openai/v3/chat/completions"),
        ("/v1/chat/completions", "/v1/chat/completions"),
        ("/deployments/x/?api-version=1", "/deployments/x/chat/completions?api-version=1"),
    ] {
        ask(&OpenAi::new(format!("{}{base}", server.url), "small"), &hello()).await.reply();
        let line = server.seen().pop().unwrap().head.lines().next().unwrap().to_owned();
        assert_eq!(line, format!("POST {path} HTTP/1.1"), "{base}");
    }
}

#[tokio::test]
async fn settings_that_cannot_work_are_told_before_and_with_the_first_request() {
    for (model, words) in [
        (OpenAi::new("localhost:8080", "m"), "does not begin with `http://`"),
        (OpenAi::new("", "m"), "is not valid"),
        (OpenAi::new("http://", "m"), "is not valid"),
        (OpenAi::new("http://127.0.0.1:1", "m").header("x team", "blue"), "the header `x team`"),
        (OpenAi::new("http://127.0.0.1:1", "m").api_key("two\nlines"), "the header `authorization`"),
    ] {
        let error = model.check().unwrap_err();
        assert!(matches!(&error, ModelError::Other(text) if text.contains(words)), "{error}");
        assert_eq!(ask(&model, &hello()).await.error(), error);
    }
    OpenAi::new("https://api.openai.com/v1", "m").check().unwrap();
    assert_eq!(OpenAi::new("", "m").provider(), "openai");
    assert_eq!(OpenAi::new("", "m").name(), "m");
}

/// The environment belongs to the whole process, so each case is a process of its own: this test run again.
#[test]
fn from_env_reads_the_environment_and_names_what_is_missing() {
    const CASE: &str = "TINYAGENTS_TEST_FROM_ENV";
    if std::env::var_os(CASE).is_some() {
        match OpenAi::from_env() {
            Ok(model) => println!("model: {model:?}"),
            Err(error) => println!("error: {error}"),
        }
        return;
    }
    let run = |variables: &[(&str, &str)]| {
        let out = Command::new(std::env::current_exe().unwrap())
            .args(["from_env_reads_the_environment_and_names_what_is_missing", "--nocapture"])
            .env_remove("OPENAI_BASE_URL")
            .env_remove("OPENAI_API_KEY")
            .env_remove("OPENAI_MODEL")
            .env(CASE, "1")
            .envs(variables.iter().copied())
            .output()
            .unwrap();
        String::from_utf8(out.stdout).unwrap()
    };
    assert!(run(&[]).contains("error: OPENAI_MODEL is not set"));
    let model = ("OPENAI_MODEL", "m");
    assert!(run(&[model]).contains("error: OPENAI_API_KEY is not set"));
    assert!(run(&[model, ("OPENAI_API_KEY", " ")]).contains("error: OPENAI_API_KEY is not set"));
    assert!(run(&[model, ("OPENAI_BASE_URL", "nowhere")]).contains("error: the base URL is not valid"));
    let local = run(&[model, ("OPENAI_BASE_URL", "http://127.0.0.1:8080")]);
    assert!(local.contains("http://127.0.0.1:8080/v1/chat/completions") && local.contains("none"), "{local}");
    let hosted = run(&[model, ("OPENAI_API_KEY", "sk-secret-0123456789")]);
    assert!(hosted.contains("https://api.openai.com/v1/chat/completions"), "{hosted}");
    assert!(hosted.contains("[redacted]") && !hosted.contains("sk-secret"), "{hosted}");
}
