//! Answers of a real server, replayed byte for byte.

use std::path::{Path, PathBuf};

use tinyagents::harness::message::{Message, ToolCall};
use tinyagents::harness::model::{
    FinishReason, ModelError, ModelReply, ModelRequest, ModelSettings, ToolChoice,
};
use tinyagents::harness::tool::ToolSchema;
use tinyagents::serde_json::{self, Value, json};

use super::server::{Outcome, Server, ask, hello};

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/corpora/wire-llamacpp");
const EXTRACT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/wire");

/// Every folder with captures; where the collection is absent, the extract that is kept here.
fn folders() -> Vec<PathBuf> {
    let corpus = Path::new(CORPUS);
    if corpus.is_dir() {
        return vec![corpus.join("captures"), corpus.join("captures-llama-server")];
    }
    eprintln!("{CORPUS} is absent: only the extract in tests/data/wire is replayed");
    vec![EXTRACT.into()]
}

struct Capture {
    name: String,
    request: Value,
    answer: Vec<u8>,
}

/// The captured chat completions of a folder, by name. A request whose body is no JSON has `null` for it.
fn captures(folder: &Path) -> Vec<Capture> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "req") {
            continue;
        }
        let request = std::fs::read_to_string(&path).unwrap();
        if !request.starts_with("POST /v1/chat/completions ") {
            continue;
        }
        let body = request.split_once("\r\n\r\n").unwrap().1;
        out.push(Capture {
            name: path.file_stem().unwrap().to_string_lossy().into_owned(),
            request: serde_json::from_str(body).unwrap_or_default(),
            answer: std::fs::read(path.with_extension("resp")).unwrap(),
        });
    }
    out.sort_by(|a, b| a.name.cmp(&b.name));
    out
}

async fn replay(capture: &Capture) -> Outcome {
    let server = Server::once(capture.answer.clone()).await;
    let streaming = capture.request["stream"].as_bool().unwrap_or(false);
    ask(&server.model().streaming(streaming), &hello()).await
}

#[tokio::test]
async fn tool_required_stream_gives_its_call() {
    let folder = folders().remove(0);
    let captures = captures(&folder);
    let capture = captures.iter().find(|capture| capture.name == "tool_required_stream").unwrap();
    let outcome = replay(capture).await;
    assert!(outcome.deltas.is_empty(), "a reply that is only a call has no text: {:?}", outcome.deltas);
    let ModelReply { message, finish, .. } = outcome.reply();
    let arguments = json!({ "city": "Paris", "unit": "celsius" });
    assert_eq!(
        message.tool_calls,
        [ToolCall::new("cykk0mEyIBDpydHMWtMjGyChVGDLwGC9", "get_weather", arguments)]
    );
    assert!(message.content.is_empty());
    assert_eq!(finish, FinishReason::ToolCalls);
}

#[tokio::test]
async fn a_real_answer_that_is_cut_anywhere_is_an_error_or_the_whole_reply() {
    let captures = captures(&folders().remove(0));
    let capture = captures.iter().find(|capture| capture.name == "tool_required_stream").unwrap();
    let whole = replay(capture).await.reply();
    let text = String::from_utf8_lossy(&capture.answer);
    let finish = text.find("\"finish_reason\":\"tool_calls\"").unwrap();
    let finished = finish + text[finish..].find("\n\n").unwrap() + 2;
    // Each cut is a connection of its own: every byte around the end of the reply, every eleventh elsewhere.
    let near = |at: &usize| at % 11 == 0 || (finish - 20..finished + 20).contains(at);
    let cuts: Vec<usize> = (0..capture.answer.len()).filter(near).collect();
    let server = Server::start(cuts.iter().map(|at| capture.answer[..*at].to_vec()).collect()).await;
    let (model, request) = (server.model(), hello());
    for &at in &cuts {
        match ask(&model, &request).await.reply {
            Ok(reply) => {
                assert!(at > finish, "a whole reply out of {at} bytes");
                assert_eq!(reply, whole, "cut after {at} bytes");
            }
            Err(error) => {
                assert!(at < finished, "{error} after {at} bytes");
                assert!(matches!(error, ModelError::Unreachable { .. }), "{error} after {at} bytes");
            }
        }
    }
    assert_eq!(server.seen().len(), cuts.len(), "no request was sent twice");
}

#[tokio::test]
async fn our_request_is_the_captured_one() {
    let folder = folders().remove(0);
    let mut captured =
        captures(&folder).into_iter().find(|capture| capture.name == "tool_required_stream").unwrap();
    let tool = captured.request["tools"][0]["function"].clone();
    let schema =
        ToolSchema::new("get_weather", tool["description"].as_str().unwrap(), tool["parameters"].clone());
    let request = ModelRequest {
        messages: vec![Message::user("What is the weather in Paris?")].into(),
        tools: vec![schema].into(),
        settings: ModelSettings {
            temperature: Some(0.0),
            max_tokens: Some(96),
            tool_choice: ToolChoice::Required,
            ..ModelSettings::default()
        },
        ..ModelRequest::default()
    };
    let server = Server::once(captured.answer).await;
    ask(&server.model(), &request).await.reply();
    captured.request["model"] = "small".into();
    captured.request["temperature"] = 0.0.into();
    captured.request["stream_options"] = json!({ "include_usage": true });
    assert_eq!(server.seen()[0].body, captured.request);
}

#[tokio::test]
async fn every_capture_ends_in_a_whole_reply_or_a_clear_error() {
    let (mut replies, mut errors, mut twins) = (0, 0, 0);
    for folder in folders() {
        let captures = captures(&folder);
        let mut read: Vec<(&str, ModelReply)> = Vec::new();
        for capture in &captures {
            let name = capture.name.as_str();
            let status = String::from_utf8_lossy(&capture.answer[9..12]).parse::<u16>().unwrap();
            match replay(capture).await.reply {
                Ok(reply) => {
                    assert_eq!(status, 200, "{name}");
                    let calls: Vec<String> = reply.message.tool_calls.iter().map(shown).collect();
                    let text = Message::Assistant(reply.message.clone()).text();
                    println!(
                        "{name}: {} {:?} {calls:?}",
                        reply.finish,
                        text.chars().take(60).collect::<String>()
                    );
                    if capture.request["stream"] != true {
                        compare_with_body(name, &reply, &capture.answer);
                    }
                    read.push((name, reply));
                    replies += 1;
                }
                Err(error) => {
                    assert!(
                        matches!(&error, ModelError::Status { status: told, message, .. }
                            if *told == status && !message.is_empty()),
                        "{name}: {error}"
                    );
                    println!("{name}: {error}");
                    errors += 1;
                }
            }
        }
        for (name, whole) in &read {
            let twin = format!("{name}_stream");
            if let Some((_, streamed)) = read.iter().find(|(name, _)| *name == twin) {
                assert_eq!(streamed.finish, whole.finish, "{name}");
                assert_eq!(streamed.message.content, whole.message.content, "{name}");
                let calls =
                    |reply: &ModelReply| reply.message.tool_calls.iter().map(shown).collect::<Vec<_>>();
                assert_eq!(calls(streamed), calls(whole), "{name}");
                twins += 1;
            }
        }
    }
    println!("{replies} replies, {errors} errors, {twins} streamed replies equal to their whole twins");
    assert!(replies > 0);
}

/// A call without its id, which the server makes up anew each time.
fn shown(call: &ToolCall) -> String {
    format!("{}({}) {:?}", call.name, call.arguments, call.invalid)
}

/// Holds the reply against the captured body, read without the provider.
fn compare_with_body(name: &str, reply: &ModelReply, answer: &[u8]) {
    let text = String::from_utf8_lossy(answer);
    let body: Value = serde_json::from_str(text.split_once("\r\n\r\n").unwrap().1).unwrap();
    let choice = &body["choices"][0];
    let message = &choice["message"];
    assert_eq!(
        Message::Assistant(reply.message.clone()).text(),
        message["content"].as_str().unwrap_or_default(),
        "{name}"
    );
    let empty = Vec::new();
    let calls = message["tool_calls"].as_array().unwrap_or(&empty);
    assert_eq!(reply.message.tool_calls.len(), calls.len(), "{name}");
    let cut_off = choice["finish_reason"] == "length";
    for (position, (call, captured)) in reply.message.tool_calls.iter().zip(calls).enumerate() {
        let raw = captured["function"]["arguments"].as_str().unwrap();
        let parsed = serde_json::from_str::<Value>(raw);
        let trusted = parsed.is_ok() && !(cut_off && position + 1 == calls.len());
        assert_eq!(call.invalid.is_none(), trusted, "{name}");
        assert_eq!(call.arguments.to_value(), if trusted { parsed.unwrap() } else { raw.into() }, "{name}");
    }
    assert_eq!(reply.usage.output_tokens, body["usage"]["completion_tokens"].as_u64().unwrap(), "{name}");
}
