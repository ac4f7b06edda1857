//! From whatever a server says when it refuses, to a [`ModelError`].
//!
//! Guarantee: the text is short, on one line, and holds no configured secret, even where the server repeats it.

use std::time::{Duration, SystemTime};

use reqwest::header::{HeaderMap, RETRY_AFTER};
use serde_json::Value;

use crate::harness::model::ModelError;

/// The most characters of a server's words that are repeated.
const MAX_WORDS: usize = 400;
/// The shortest value that is taken for a secret: replacing `1` in every text would only garble it.
const MIN_SECRET: usize = 8;

/// What went wrong, before it is known where.
#[derive(Debug)]
pub(super) enum Fault {
    /// The answer cannot be understood.
    Protocol(String),
    /// The server cannot be reached, or the connection ended early.
    Unreachable(String),
    /// The server says that it failed.
    Refused { status: u16, message: String, retry_after: Option<Duration> },
    /// The request cannot be made as it is set up.
    Setup(String),
}

impl Fault {
    /// The error as the caller sees it, with every secret taken out.
    pub(super) fn at(self, endpoint: &str, secrets: &[String]) -> ModelError {
        let endpoint = endpoint.to_owned();
        let clean = |text: String| shorten(&redact(text, secrets));
        match self {
            Self::Protocol(reason) => ModelError::Protocol { endpoint, reason: clean(reason) },
            Self::Unreachable(reason) => ModelError::Unreachable { endpoint, reason: clean(reason) },
            Self::Refused { status, message, retry_after } => {
                ModelError::Status { endpoint, status, message: clean(message), retry_after }
            }
            Self::Setup(reason) => ModelError::Other(clean(reason)),
        }
    }

    /// From an error status and its body.
    pub(super) fn from_status(status: u16, headers: &HeaderMap, body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        let mut message = match serde_json::from_str::<Value>(&text) {
            Ok(value) => words(&value).unwrap_or_else(|| text.into_owned()),
            Err(_) if text.trim_start().starts_with('<') => "an HTML page, not an API's answer".into(),
            Err(_) if text.trim().is_empty() => "no further words".into(),
            Err(_) => text.into_owned(),
        };
        let hint = match status {
            300..=399 => "the server redirects; set the base URL to where it leads",
            401 | 403 => "check the API key",
            404 => "check the base URL and the model's name",
            _ => "",
        };
        if !hint.is_empty() {
            // The server's words are cut first, so that the way out is never what gets lost.
            message = format!("{} ({hint})", cut(&message, MAX_WORDS - hint.len() - 4));
        }
        Self::Refused { status, message, retry_after: retry_after(headers, SystemTime::now()) }
    }

    /// From an error object inside an answer that began well. It has no status of its own: its `code` is taken if
    /// that is one, else what its type stands for.
    pub(super) fn from_reported(error: &Value) -> Self {
        let code = error.get("code").or_else(|| error.get("status"));
        let number = code.and_then(|code| code.as_u64().or_else(|| code.as_str()?.parse().ok()));
        let kind = [error.get("type"), code].into_iter().flatten().filter_map(Value::as_str);
        let kind = kind.collect::<Vec<_>>().join(" ").to_ascii_lowercase();
        let status = match number.and_then(|number| u16::try_from(number).ok()) {
            Some(status @ 400..=599) => status,
            _ if kind.contains("rate_limit") || kind.contains("quota") => 429,
            _ if kind.contains("invalid") || kind.contains("tool_use_failed") => 400,
            _ => 500,
        };
        let message = words(error).unwrap_or_else(|| error.to_string());
        Self::Refused { status, message, retry_after: None }
    }

    /// From a request that got no answer, or whose answer broke off.
    pub(super) fn from_transport(error: reqwest::Error, connect: Duration, idle: Duration) -> Self {
        let error = error.without_url();
        if error.is_builder() {
            return Self::Setup(format!("the request cannot be built: {}", root_cause(&error)));
        }
        let cause = root_cause(&error);
        Self::Unreachable(match (error.is_connect(), error.is_timeout()) {
            (true, true) => {
                format!("no connection within {connect:?}; is the server running, and is the base URL right?")
            }
            (true, false) => format!("{cause}; is the server running, and is the base URL right?"),
            (false, true) => {
                format!("nothing came for {idle:?}; a slow server needs a longer `idle_timeout`")
            }
            (false, false) => format!("the connection broke before the reply was whole: {cause}"),
        })
    }
}

/// The innermost cause: the outer ones only say that sending failed.
fn root_cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

/// The words of an error body in any of the known shapes: `{"error": {..}}`, `{"error": ".."}`,
/// `{"object": "error", "message": ".."}`, `{"detail": ".."}`, or one of them as the only item of a list.
fn words(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => words(items.first()?),
        Value::Object(fields) => {
            if let Some(inner) = fields.get("error").filter(|inner| !inner.is_null()) {
                return words(inner);
            }
            let message = ["message", "detail", "msg"].iter().find_map(|key| fields.get(*key))?;
            let mut out = message.as_str().map_or_else(|| message.to_string(), str::to_owned);
            let notes: Vec<String> = ["type", "code", "param"]
                .iter()
                .filter_map(|key| {
                    let note = fields.get(*key).filter(|note| !note.is_null())?;
                    Some(format!("{key} {}", note.as_str().map_or_else(|| note.to_string(), str::to_owned)))
                })
                .collect();
            if !notes.is_empty() {
                out = format!("{} ({})", cut(&out, MAX_WORDS - 100), notes.join(", "));
            }
            Some(out)
        }
        _ => None,
    }
}

/// Takes every configured secret out of a text: servers do repeat a key that they refuse.
fn redact(mut text: String, secrets: &[String]) -> String {
    for secret in secrets.iter().filter(|secret| secret.len() >= MIN_SECRET) {
        if text.contains(secret.as_str()) {
            text = text.replace(secret.as_str(), "[redacted]");
        }
    }
    text
}

fn shorten(text: &str) -> String {
    cut(&text.split_whitespace().collect::<Vec<_>>().join(" "), MAX_WORDS)
}

fn cut(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// How long a server asks to wait: `retry-after-ms`, else `retry-after` as seconds or as a date.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let text = |name: &str| headers.get(name)?.to_str().ok();
    if let Some(millis) = text("retry-after-ms").and_then(number) {
        return Duration::try_from_secs_f64(millis / 1000.0).ok();
    }
    let value = text(RETRY_AFTER.as_str())?;
    match number(value) {
        Some(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        None => http_date(value).map(|date| date.duration_since(now).unwrap_or_default()),
    }
}

/// Reads the one date form that servers may still send (RFC 9110, 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
fn http_date(text: &str) -> Option<SystemTime> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let number = |text: &str, range: std::ops::RangeInclusive<u64>| {
        text.parse::<u64>().ok().filter(|number| range.contains(number))
    };
    let parts: Vec<&str> = text.split_once(", ")?.1.split([' ', ':']).collect();
    let &[day, month, year, hour, minute, second, "GMT"] = parts.as_slice() else { return None };
    let (day, year) = (number(day, 1..=31)?, number(year, 1970..=9999)?);
    let month = MONTHS.iter().position(|name| *name == month)? as u64 + 1;
    let seconds = (number(hour, 0..=23)? * 60 + number(minute, 0..=59)?) * 60 + number(second, 0..=60)?;
    // Days since 0000-03-01, in years that begin in March, so that the leap day comes last.
    let (year, month) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 1;
    let since_1970 = days.checked_sub(719_468)?;
    Some(SystemTime::UNIX_EPOCH + Duration::from_secs(since_1970 * 86_400 + seconds))
}
