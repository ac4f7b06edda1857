//! What goes wrong on the way, and what is said about it.

use std::time::{Duration, SystemTime};

use tinyagents::harness::model::{DeltaSink, Model, ModelError};
use tinyagents::provider::openai::OpenAi;
use tinyagents::serde_json::json;
use tokio::sync::Notify;

use super::answers::*;
use super::server::{Server, ask, hello, read};

const JSON: &str = "Content-Type: application/json\r\n";

fn status(error: &ModelError) -> (u16, &str, Option<Duration>) {
    match error {
        ModelError::Status { status, message, retry_after, .. } => (*status, message, *retry_after),
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn every_shape_of_an_error_body_is_read() {
    for (line, body, words) in [
        (
            "400 Bad Request",
            r#"{"error":{"message":"Bad schema","type":"invalid_request_error","param":"tools[5]","code":null}}"#,
            "Bad schema (type invalid_request_error, param tools[5])",
        ),
        ("400 Bad Request", r#"{"object":"error","message":"Too long","code":400}"#, "Too long (code 400)"),
        ("422 Unprocessable", r#"{"detail":"no such field"}"#, "no such field"),
        ("429 Too Many Requests", r#"[{"error":{"code":429,"message":"Quota"}}]"#, "Quota (code 429)"),
        ("500 Oops", r#"{"error":"out of memory"}"#, "out of memory"),
        ("503 Unavailable", "upstream\n  timed out", "upstream timed out"),
        ("503 Unavailable", "", "no further words"),
        ("502 Bad Gateway", "<html>bad gateway</html>", "an HTML page, not an API's answer"),
        ("404 Not Found", r#"{"error":{"message":"no"}}"#, "no (check the base URL and the model's name)"),
        ("401 Unauthorized", "", "no further words (check the API key)"),
    ] {
        let error = read(whole(line, JSON, body)).await.error();
        let (code, message, _) = status(&error);
        assert_eq!((code.to_string().as_str(), message), (&line[..3], words));
        assert_eq!(error.is_transient(), matches!(code, 429 | 500..));
    }
}

#[tokio::test]
async fn an_error_is_short_and_its_way_out_is_not_cut() {
    let error = read(whole("404 Not Found", "", &"ä ".repeat(100_000))).await.error();
    let text = error.to_string();
    assert!(
        text.chars().count() < 500 && text.ends_with("(check the base URL and the model's name)"),
        "{text}"
    );
}

#[tokio::test]
async fn a_redirect_is_told_not_followed() {
    let server = Server::once(whole("307 Temporary Redirect", "Location: /elsewhere\r\n", "")).await;
    let error = ask(&server.model(), &hello()).await.error();
    assert!(matches!(status(&error), (307, words, _) if words.contains("set the base URL")), "{error}");
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn the_time_to_wait_is_read_in_every_form() {
    let after = async |headers: &str| {
        let error = read(whole("429 Too Many Requests", headers, "{}")).await.error();
        status(&error).2
    };
    assert_eq!(after("").await, None);
    assert_eq!(after("Retry-After: 2\r\n").await, Some(Duration::from_secs(2)));
    assert_eq!(after("Retry-After: 0.5\r\n").await, Some(Duration::from_millis(500)));
    assert_eq!(after("retry-after-ms: 1500\r\nRetry-After: 9\r\n").await, Some(Duration::from_millis(1500)));
    for strange in ["-1", "soon", "1e300", "NaN", "Sun, 99 Nov 1994 08:49:37 GMT", ", "] {
        assert_eq!(after(&format!("Retry-After: {strange}\r\n")).await, None, "{strange}");
    }
    let past = after("Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n").await;
    assert_eq!(past, Some(Duration::ZERO));
    // 2100-03-02 is 47,542 days after 1970: 2100 is no leap year.
    let then = SystemTime::UNIX_EPOCH + Duration::from_secs(47_542 * 86_400 + 3_600);
    let left = then.duration_since(SystemTime::now()).unwrap();
    let told = after("Retry-After: Tue, 02 Mar 2100 01:00:00 GMT\r\n").await.unwrap();
    assert!(told.abs_diff(left) < Duration::from_secs(60), "{told:?} {left:?}");
}

#[tokio::test]
async fn an_error_inside_an_answer_is_an_error() {
    let error = json!({ "error": { "message": "Slow down", "type": "rate_limit_error" } });
    let text = delta(&json!({ "content": "Hel" }));
    for answer in [stream(&[text.clone(), error.clone()]), json_body(&error)] {
        let error = read(answer).await.error();
        assert_eq!(status(&error), (429, "Slow down (type rate_limit_error)", None));
    }
    for (event, expected) in [
        (r#"data: {"error":{"code":503,"message":"Loading"}}"#, (503, "Loading (code 503)")),
        (
            r#"data: {"error":{"message":"tool call validation failed","code":"tool_use_failed"}}"#,
            (400, "tool call validation failed (code tool_use_failed)"),
        ),
        (r#"data: {"error":"broken"}"#, (500, "broken")),
        (r#"data: {"object":"error","message":"broken"}"#, (500, "broken")),
        ("event: error\ndata: {\"message\":\"broken\"}", (500, "broken")),
        ("event: error\ndata: broken", (500, "broken")),
    ] {
        let body = format!("{}{event}\n\n", events(std::slice::from_ref(&text)));
        let error = read(pieces(&[body.as_bytes()])).await.error();
        assert_eq!((status(&error).0, status(&error).1), expected);
    }
}

#[tokio::test]
async fn a_connection_that_ends_early_is_never_half_a_reply() {
    let text = events(&[delta(&json!({ "content": "Hel" }))]);
    let cut = "data: {\"choices\":[{\"delta\":{\"con";
    let close = |answer: Vec<u8>| {
        String::from_utf8(answer).unwrap().replacen("\r\n", "\r\nConnection: close\r\n", 1).into_bytes()
    };
    for answer in [
        close(pieces(&[text.as_bytes()])),
        close(pieces(&[text.as_bytes(), cut.as_bytes()])),
        close(open_stream(&[text.as_bytes()])),
        close(open_stream(&[])),
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 99\r\n\r\n{\"choices\":".to_vec(),
    ] {
        let error = read(answer).await.error();
        assert!(matches!(&error, ModelError::Unreachable { .. }) && error.is_transient(), "{error}");
        assert!(error.to_string().contains("before the reply was whole"), "{error}");
    }
    let finished = events(&[delta(&json!({ "content": "Hello" })), finish("stop")]);
    read(close(open_stream(&[finished.as_bytes()]))).await.reply();
}

#[tokio::test]
async fn an_answer_that_is_none_is_told_as_such() {
    for (answer, words) in [
        (pieces(&[b"data: {\"choices\": 5}\n\n"]), "not a chat completion chunk"),
        (pieces(&[b"data: hello\n\n"]), "not a chat completion chunk"),
        (pieces(&[b"data: \xff\xfe\n\n"]), "not UTF-8"),
        (json_body(&json!({ "choices": [] })), "no `choices[0].message`"),
        (json_body(&json!([])), "no `choices[0].message`"),
        (whole("200 OK", JSON, "hello"), "not a chat completion"),
        (whole("200 OK", "Content-Type: text/html; charset=utf-8\r\n", "<html>"), "HTML page"),
    ] {
        let error = read(answer).await.error();
        assert!(matches!(&error, ModelError::Protocol { reason, .. } if reason.contains(words)), "{error}");
        assert!(!error.is_transient());
    }
}

#[tokio::test]
async fn an_answer_is_bounded() {
    let text = events(&[delta(&json!({ "content": "x".repeat(1000) }))]);
    let endless = vec![text.as_bytes(); 20];
    let big = completion(&json!({ "content": "x".repeat(20_000) }), "stop");
    for answer in [pieces(&endless), big] {
        let server = Server::once(answer).await;
        let error = ask(&server.model().max_response_bytes(10_000), &hello()).await.error();
        assert!(
            matches!(&error, ModelError::Protocol { reason, .. } if reason.contains("10000 bytes")),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_line_that_never_ends_is_refused() {
    let piece = vec![b'x'; 1 << 20];
    let mut parts: Vec<&[u8]> = vec![b"data: "];
    parts.extend(std::iter::repeat_n(piece.as_slice(), 17));
    let error = read(open_stream(&parts)).await.error();
    assert!(
        matches!(&error, ModelError::Protocol { reason, .. } if reason.contains("longer than")),
        "{error}"
    );
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named_with_the_way_out() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = ask(&OpenAi::new(format!("http://{address}"), "small"), &hello()).await.error();
    let text = error.to_string();
    assert!(matches!(error, ModelError::Unreachable { .. }));
    assert!(text.starts_with(&format!("http://{address}/v1/chat/completions cannot be reached")), "{text}");
    assert!(text.contains("is the server running, and is the base URL right?"), "{text}");
}

#[tokio::test]
async fn a_silent_server_is_given_up_but_a_slow_one_is_not() {
    let server = Server::once(open_stream(&[b": keep-alive\n\n"])).await;
    let error = ask(&server.model().idle_timeout(Duration::from_millis(50)), &hello()).await.error();
    assert!(
        matches!(&error, ModelError::Unreachable { reason, .. } if reason.contains("idle_timeout")),
        "{error}"
    );
}

#[tokio::test]
async fn dropping_the_request_closes_the_connection() {
    let text = events(&[delta(&json!({ "content": "Hel" }))]);
    let mut server = Server::once(open_stream(&[text.as_bytes()])).await;
    let (model, request, heard) = (server.model(), hello(), Notify::new());
    let hear = |_: &str| heard.notify_one();
    let sink = DeltaSink::new(&hear);
    tokio::select! {
        reply = model.generate(&request, &sink) => panic!("{reply:?}"),
        () = heard.notified() => {}
    }
    server.gone.recv().await.unwrap();
}

#[tokio::test]
async fn no_secret_is_in_any_text() {
    let secrets = ["sk-secret-0123456789", "hunter2-hunter2", "pass-word-1"];
    let body = json!({ "error": { "message": format!("wrong key: {}", secrets.join(" and ")) } }).to_string();
    let server = Server::start(vec![
        whole("401 Unauthorized", JSON, &body),
        whole("500 Oops", "", &secrets.join("\n")),
        stream(&[json!({ "error": { "message": secrets.join(" ") } })]),
    ])
    .await;
    let address = server.url.replace("http://", &format!("http://me:{}@", secrets[2]));
    let address = format!("{address}/v1?key={}", secrets[2]);
    let model = OpenAi::new(&address, "small").api_key(secrets[0]).header("x-key", secrets[1]);
    let mut texts = vec![format!("{model:?}"), format!("{model:#?}")];
    for _ in 0..3 {
        let error = ask(&model, &hello()).await.error();
        texts.extend([error.to_string(), format!("{error:?}")]);
    }
    let nowhere = OpenAi::new(address.replace("http://", "ftp://"), "small").api_key(secrets[0]);
    texts.extend([format!("{nowhere:?}"), nowhere.check().unwrap_err().to_string()]);
    for text in texts {
        for secret in secrets {
            assert!(!text.contains(secret), "{text}");
        }
    }
}
