//! A server on loopback that says exactly what it is told, and remembers what it was asked.

use std::sync::{Arc, Mutex};

use tinyagents::harness::message::Message;
use tinyagents::harness::model::{DeltaSink, Model, ModelError, ModelReply, ModelRequest};
use tinyagents::provider::openai::OpenAi;
use tinyagents::serde_json::{self, Value};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// A request as the server saw it.
#[derive(Debug, Clone)]
pub struct Seen {
    pub head: String,
    pub body: Value,
    /// The body as it was sent.
    pub raw: String,
}

pub struct Server {
    pub url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    /// Gets a message whenever a client goes away.
    pub gone: mpsc::UnboundedReceiver<()>,
}

impl Server {
    /// Answers the first request with the first answer and so on; the last answer is repeated. A connection stays
    /// open unless the answer says `Connection: close` or ends within its head.
    pub async fn start(answers: Vec<Vec<u8>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (left, gone) = mpsc::unbounded_channel();
        let (answers, log) = (Arc::new(answers), seen.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (answers, log, left) = (answers.clone(), log.clone(), left.clone());
                tokio::spawn(async move {
                    serve(stream, &answers, &log).await;
                    let _ = left.send(());
                });
            }
        });
        Self { url, seen, gone }
    }

    pub async fn once(answer: impl Into<Vec<u8>>) -> Self {
        Self::start(vec![answer.into()]).await
    }

    pub fn model(&self) -> OpenAi {
        OpenAi::new(&self.url, "small")
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

async fn serve(mut stream: TcpStream, answers: &[Vec<u8>], log: &Mutex<Vec<Seen>>) {
    while let Some(request) = read_request(&mut stream).await {
        let number = {
            let mut log = log.lock().unwrap();
            log.push(request);
            log.len() - 1
        };
        let answer = answers.get(number).or(answers.last()).unwrap();
        if stream.write_all(answer).await.is_err() {
            return;
        }
        let head =
            find(answer, b"\r\n\r\n").map(|end| String::from_utf8_lossy(&answer[..end]).to_ascii_lowercase());
        if head.is_none_or(|head| head.contains("connection: close")) {
            let _ = stream.shutdown().await;
            return;
        }
    }
}

async fn read_request(stream: &mut TcpStream) -> Option<Seen> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = find(&bytes, b"\r\n\r\n") {
            let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().unwrap())
            });
            let body = &bytes[end + 4..];
            if body.len() >= length.unwrap_or(0) {
                let raw = String::from_utf8(body.to_vec()).unwrap();
                return Some(Seen { head, body: serde_json::from_str(&raw).unwrap(), raw });
            }
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}

/// What a request ended with, and the pieces of text that came before.
pub struct Outcome {
    pub reply: Result<ModelReply, ModelError>,
    pub deltas: Vec<String>,
}

impl Outcome {
    pub fn reply(self) -> ModelReply {
        self.reply.unwrap()
    }

    pub fn error(self) -> ModelError {
        self.reply.unwrap_err()
    }
}

pub async fn ask(model: &OpenAi, request: &ModelRequest) -> Outcome {
    let deltas = Mutex::new(Vec::new());
    let take = |piece: &str| deltas.lock().unwrap().push(piece.to_owned());
    let reply = model.generate(request, &DeltaSink::new(&take)).await;
    Outcome { reply, deltas: deltas.into_inner().unwrap() }
}

pub fn hello() -> ModelRequest {
    ModelRequest { messages: vec![Message::user("Hello.")].into(), ..ModelRequest::default() }
}

/// What the provider makes of one answer.
pub async fn read(answer: impl Into<Vec<u8>>) -> Outcome {
    let server = Server::once(answer).await;
    ask(&server.model(), &hello()).await
}
