//! Answers to script a server with.

use tinyagents::serde_json::{Value, json};

/// A body of a known length.
pub fn whole(status: &str, headers: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

pub fn json_body(body: &Value) -> Vec<u8> {
    whole("200 OK", "Content-Type: application/json\r\n", &body.to_string())
}

/// A whole reply with this message and finish reason.
pub fn completion(message: &Value, finish: &str) -> Vec<u8> {
    json_body(&json!({ "choices": [{ "index": 0, "message": message, "finish_reason": finish }] }))
}

/// An event stream in exactly these pieces: each is an HTTP chunk of its own, which the client reads by itself.
pub fn pieces(parts: &[&[u8]]) -> Vec<u8> {
    let mut out = open_stream(parts);
    out.extend_from_slice(b"0\r\n\r\n");
    out
}

/// The same without the last chunk, which would say that the stream is whole.
pub fn open_stream(parts: &[&[u8]]) -> Vec<u8> {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    let mut out = head.as_bytes().to_vec();
    for part in parts.iter().filter(|part| !part.is_empty()) {
        out.extend_from_slice(format!("{:x}\r\n", part.len()).as_bytes());
        out.extend_from_slice(part);
        out.extend_from_slice(b"\r\n");
    }
    out
}

/// The events of these chunks, and `[DONE]`.
pub fn stream(chunks: &[Value]) -> Vec<u8> {
    pieces(&[events(chunks).as_bytes(), b"data: [DONE]\n\n"])
}

pub fn events(chunks: &[Value]) -> String {
    chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect()
}

pub fn delta(delta: &Value) -> Value {
    json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] })
}

pub fn calls(fragments: &Value) -> Value {
    delta(&json!({ "tool_calls": fragments }))
}

pub fn finish(reason: &str) -> Value {
    json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] })
}
