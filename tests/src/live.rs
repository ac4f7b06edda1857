//! Against a real server, which is started by hand or by CI:
//!
//! `TINYAGENTS_BASE_URL=http://127.0.0.1:8080 cargo test -p tinyagents-tests live -- --ignored --nocapture`
//!
//! `TINYAGENTS_MODEL` names the model where the server has several. The model may be tiny: what it says and which
//! tool it picks is not looked at, only that everything is well-formed.

use std::sync::Mutex;

use tinyagents::harness::id::ToolName;
use tinyagents::harness::message::{AssistantMessage, ContentBlock, Message, ToolCall, ToolMessage};
use tinyagents::harness::model::{DeltaSink, Model, ModelReply, ModelRequest, ModelSettings, ToolChoice};
use tinyagents::harness::tool::ToolSchema;
use tinyagents::harness::tool::dialect::SchemaDialect;
use tinyagents::provider::openai::OpenAi;
use tinyagents::serde_json::json;

fn model() -> OpenAi {
    let url =
        std::env::var("TINYAGENTS_BASE_URL").expect("TINYAGENTS_BASE_URL is the address of a model server");
    OpenAi::new(url, std::env::var("TINYAGENTS_MODEL").unwrap_or_else(|_| "default".into()))
}

fn request(messages: Vec<Message>, tool_choice: ToolChoice) -> ModelRequest {
    let schema = json!({
        "type": "object",
        "properties": { "city": { "type": "string", "description": "City name" } },
        "required": ["city"],
        "additionalProperties": false,
    });
    ModelRequest {
        messages: messages.into(),
        tools: vec![ToolSchema::new("get_weather", "Get the current weather of a city", schema)].into(),
        settings: ModelSettings {
            temperature: Some(0.0),
            max_tokens: Some(128),
            seed: Some(1),
            tool_choice,
            ..ModelSettings::default()
        },
        ..ModelRequest::default()
    }
}

fn result(call: &ToolCall, text: &str, is_error: bool) -> Message {
    Message::Tool(ToolMessage {
        tool_call_id: call.id.clone(),
        name: ToolName::new("get_weather").unwrap(),
        content: vec![ContentBlock::text(text)],
        value: None,
        is_error,
        artifacts: Vec::new(),
    })
}

async fn ask(model: &OpenAi, request: &ModelRequest) -> ModelReply {
    let pieces = Mutex::new(Vec::new());
    let take = |piece: &str| pieces.lock().unwrap().push(piece.to_owned());
    let reply = model.generate(request, &DeltaSink::new(&take)).await.unwrap();
    let text = Message::Assistant(reply.message.clone()).text();
    assert_eq!(pieces.into_inner().unwrap().concat(), text, "the pieces are the text");
    reply
}

fn print(title: &str, messages: &[Message], reply: &ModelReply) {
    println!("--- {title}");
    for message in messages.iter().chain([&Message::Assistant(reply.message.clone())]) {
        println!("{}", tinyagents::serde_json::to_string(message).unwrap());
    }
    println!("finish: {}, {:?}", reply.finish, reply.usage);
}

#[tokio::test]
#[ignore = "needs a model server: set TINYAGENTS_BASE_URL"]
async fn a_required_call_streams_and_its_result_goes_back() {
    let model = model();
    let mut messages = vec![Message::user("What is the weather in Paris?")];
    let reply = ask(&model, &request(messages.clone(), ToolChoice::Required)).await;
    print("required", &messages, &reply);
    let first = reply.message.tool_calls.first().expect("a required call");
    assert!(!first.id.as_str().is_empty());
    assert!(first.invalid.is_none() && first.arguments.is_object(), "{first:?}");
    assert!(reply.usage.output_tokens > 0);

    messages.push(Message::Assistant(reply.message.clone()));
    messages.extend(reply.message.tool_calls.iter().map(|call| result(call, "Sunny, 21 degrees.", false)));
    let answer = ask(&model, &request(messages.clone(), ToolChoice::None)).await;
    print("the result goes back", &messages, &answer);
    assert!(answer.usage.input_tokens > reply.usage.input_tokens);
}

#[tokio::test]
#[ignore = "needs a model server: set TINYAGENTS_BASE_URL"]
async fn a_streamed_reply_equals_a_whole_one() {
    let request = request(vec![Message::user("What is the weather in Paris?")], ToolChoice::Required);
    let calls = |reply: &ModelReply| {
        let calls = reply.message.tool_calls.iter();
        calls
            .map(|call| (call.name.clone(), call.arguments.clone(), call.invalid.clone()))
            .collect::<Vec<_>>()
    };
    let (streamed, whole) = (ask(&model(), &request).await, ask(&model().streaming(false), &request).await);
    print("whole", &request.messages, &whole);
    assert_eq!(calls(&streamed), calls(&whole));
    assert_eq!(streamed.finish, whole.finish);
}

#[tokio::test]
#[ignore = "needs a model server: set TINYAGENTS_BASE_URL"]
async fn a_history_with_a_malformed_and_an_unknown_call_is_taken() {
    let calls = [
        ToolCall::from_text("call_1", "get_weather", "{\"city\": \"Par"),
        ToolCall::new("call_2", "no such tool", json!({ "x": 1 })),
    ];
    assert!(calls[0].invalid.is_some());
    let messages = vec![
        Message::user("What is the weather in Paris?"),
        Message::Assistant(AssistantMessage::calls(calls.clone())),
        result(&calls[0], calls[0].invalid.as_deref().unwrap(), true),
        result(&calls[1], "unknown tool `no such tool`; the tools are: get_weather", true),
    ];
    let reply = ask(&model(), &request(messages.clone(), ToolChoice::Auto)).await;
    print("malformed history", &messages, &reply);
}

#[tokio::test]
#[ignore = "needs a model server: set TINYAGENTS_BASE_URL"]
async fn every_shape_that_schemars_emits_is_accepted() {
    let (dialect, mut refused, mut all) = (SchemaDialect::llama_cpp(), Vec::new(), 0);
    for file in ["emitted.json", "canonical.json"] {
        for (name, schema) in crate::schemars_shapes::data(file) {
            let mut request = request(vec![Message::user("Record something.")], ToolChoice::Required);
            let schema = dialect.adapt(&schema).schema;
            request.tools = vec![ToolSchema::new("record", "Record a value", schema)].into();
            request.settings.max_tokens = Some(8); // the grammar is built before the first token
            all += 1;
            if let Err(error) = model().generate(&request, &DeltaSink::new(&|_: &str| ())).await {
                refused.push(format!("{file}: {name}: {error}"));
            }
        }
    }
    println!("{} of {all} schemas accepted", all - refused.len());
    assert_eq!(refused, Vec::<String>::new());
}
