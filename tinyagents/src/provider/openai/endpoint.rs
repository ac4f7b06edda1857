//! From a base URL as people write it to the address of chat completions.

use reqwest::Url;

/// Where requests go, and how that may be shown.
#[derive(Clone)]
pub(super) struct Endpoint {
    pub(super) url: Url,
    /// Without user, password and query.
    pub(super) shown: String,
}

impl Endpoint {
    pub(super) fn new(base: &str) -> Result<Self, String> {
        let base = base.trim();
        let refuse = |reason: &str| {
            Err(format!(
                "the base URL {reason}; write it like `http://127.0.0.1:8080` or `https://api.openai.com/v1`"
            ))
        };
        let mut url = match Url::parse(base) {
            // `localhost:8080` parses, as an address of the scheme `localhost`.
            Ok(url) if !matches!(url.scheme(), "http" | "https") => {
                return refuse("does not begin with `http://` or `https://`");
            }
            Ok(url) => url,
            Err(error) => return refuse(&format!("is not valid ({error})")),
        };
        url.set_fragment(None);
        let path = url.path().trim_end_matches('/');
        let path = match path {
            "" => "/v1/chat/completions".to_owned(),
            whole if whole.ends_with("/chat/completions") => whole.to_owned(),
            base => format!("{base}/chat/completions"),
        };
        url.set_path(&path);
        let mut public = url.clone();
        public.set_query(None);
        // Refused only for addresses without a host, which http has not.
        let _ = public.set_username("");
        let _ = public.set_password(None);
        Ok(Self { shown: public.into(), url })
    }

    /// Whether the server is on this machine; no proxy leads there.
    pub(super) fn is_local(&self) -> bool {
        let host = self.url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        host == "localhost" || host.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
    }

    /// What the address may hold that nobody else should see.
    pub(super) fn secrets(&self) -> Vec<String> {
        let values = self.url.query_pairs().map(|(_, value)| value.into_owned());
        values.chain(self.url.password().map(str::to_owned)).collect()
    }

    pub(super) fn is_secure(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// Whose server it is, as far as the address tells.
    pub(super) fn provider(&self) -> &'static str {
        match self.url.host_str() {
            Some("api.mistral.ai") => "mistral",
            _ => super::PROVIDER,
        }
    }

    /// Whether the address tells whose server it is.
    pub(super) fn is_known(&self) -> bool {
        matches!(self.url.host_str(), Some("api.mistral.ai" | "api.openai.com"))
    }

    /// OpenAI's own models take the newer name only; other servers may know the older one only.
    pub(super) fn max_tokens_field(&self) -> &'static str {
        match self.url.host_str() {
            Some("api.openai.com") => "max_completion_tokens",
            _ => "max_tokens",
        }
    }
}
