//! One request over HTTP, and the bytes of its answer, bounded.
//!
//! Not here: trying again. Dropping the future closes the connection, which is how servers learn of a cancel.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderValue};
use reqwest::{Client, RequestBuilder, Response};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;

use super::endpoint::Endpoint;
use super::error::Fault;
use super::response::read_whole;
use super::stream::StreamReader;
use crate::harness::model::{DeltaSink, ModelReply};

/// The most bytes of an error's body that are read.
const MAX_ERROR_BYTES: usize = 64 * 1024;

pub(super) fn client(endpoint: &Endpoint, connect: Duration, idle: Duration) -> Result<Client, String> {
    let failed = |error: &dyn std::fmt::Display| format!("the HTTP client cannot be set up: {error}");
    // The cryptography is handed over instead of installed: what a process uses by default is the application's
    // choice.
    let tls = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(&error))?;
    let tls = if endpoint.is_secure() {
        tls.with_platform_verifier().map_err(|error| failed(&error))?.with_no_client_auth()
    } else {
        // Redirects are off, so that a plain address never leads to a secure one, and no certificates are loaded.
        tls.with_root_certificates(RootCertStore::empty()).with_no_client_auth()
    };
    let mut client = Client::builder()
        .tls_backend_preconfigured(tls)
        // A redirected POST would lose its body or carry headers to another host.
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(connect)
        .read_timeout(idle)
        .user_agent(concat!("tinyagents/", env!("CARGO_PKG_VERSION")));
    if endpoint.is_local() {
        client = client.no_proxy();
    }
    client.build().map_err(|error| failed(&error))
}

/// How one request is made.
pub(super) struct Exchange {
    pub(super) streaming: bool,
    pub(super) connect_timeout: Duration,
    pub(super) idle_timeout: Duration,
    pub(super) max_bytes: usize,
}

impl Exchange {
    pub(super) async fn run(
        &self,
        post: RequestBuilder,
        deltas: &DeltaSink<'_>,
    ) -> Result<ModelReply, Fault> {
        let json = HeaderValue::from_static("application/json");
        let sent = post.header(CONTENT_TYPE, json).send().await;
        let response = sent.map_err(|error| self.broken(error))?;
        if !response.status().is_success() {
            return Err(self.refused(response).await);
        }
        match self.is_stream(&response)? {
            true => self.read_stream(response, deltas).await,
            false => {
                let (reply, text) = read_whole(&self.read_body(response).await?)?;
                deltas.text(&text);
                Ok(reply)
            }
        }
    }

    /// The answer's own word counts, because some servers never stream and others always do.
    fn is_stream(&self, response: &Response) -> Result<bool, Fault> {
        let kind =
            response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        match kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase().as_str() {
            "text/event-stream" => Ok(true),
            "text/html" => {
                Err(Fault::Protocol("it is an HTML page, not an API's answer; is the base URL right?".into()))
            }
            kind if kind.ends_with("json") => Ok(false),
            _ => Ok(self.streaming),
        }
    }

    async fn read_stream(&self, mut response: Response, deltas: &DeltaSink<'_>) -> Result<ModelReply, Fault> {
        let mut reader = StreamReader::new(deltas);
        let mut total = 0;
        loop {
            let bytes = match response.chunk().await {
                Ok(Some(bytes)) => bytes,
                Ok(None) => break,
                Err(_) if reader.is_whole() => break,
                Err(error) => return Err(self.broken(error)),
            };
            total += bytes.len();
            if total > self.max_bytes {
                return Err(self.too_long());
            }
            if !reader.push(&bytes)? {
                break;
            }
        }
        reader.finish()
    }

    async fn read_body(&self, mut response: Response) -> Result<Vec<u8>, Fault> {
        let mut body = Vec::new();
        while let Some(bytes) = response.chunk().await.map_err(|error| self.broken(error))? {
            if body.len() + bytes.len() > self.max_bytes {
                return Err(self.too_long());
            }
            body.extend_from_slice(&bytes);
        }
        Ok(body)
    }

    async fn refused(&self, mut response: Response) -> Fault {
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let mut body = Vec::new();
        // The status is known: a body that breaks off does not change it.
        while let Ok(Some(bytes)) = response.chunk().await {
            let room = MAX_ERROR_BYTES - body.len();
            body.extend(bytes.iter().take(room));
            if bytes.len() >= room {
                break;
            }
        }
        Fault::from_status(status, &headers, &body)
    }

    fn too_long(&self) -> Fault {
        Fault::Protocol(format!("it is longer than {} bytes", self.max_bytes))
    }

    fn broken(&self, error: reqwest::Error) -> Fault {
        Fault::from_transport(error, self.connect_timeout, self.idle_timeout)
    }
}
