//! How a tool fails.

use std::fmt;

/// What a failure means for the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The model can mend the call: it chose arguments that the tool cannot use.
    Retry,
    /// The call failed, and the model is told the author's words.
    Failed,
    /// As `Failed`, and the same call may succeed later.
    Transient,
    /// As `Failed`, and the words are not the author's: the model is told a generic sentence with an error id.
    Opaque,
    /// The turn is closed whole, then the run ends with this error.
    Fatal,
}

/// The error of a tool.
///
/// Like `anyhow::Error` it is made from any `std::error::Error` by `?`, and therefore does not implement that
/// trait itself.
///
/// ```
/// use tinyagents::harness::tool::ToolError;
///
/// fn read(path: &str) -> Result<String, ToolError> {
///     if path.is_empty() {
///         return Err(ToolError::retry_with("`path` must not be empty; list the files first"));
///     }
///     Ok(std::fs::read_to_string(path)?)
/// }
/// assert!(read("/no/such/file").unwrap_err().to_string().contains("No such file"));
/// ```
pub struct ToolError {
    kind: ErrorKind,
    message: String,
}

impl ToolError {
    /// The model should mend its arguments; `message` says how.
    pub fn retry_with(message: impl Into<String>) -> Self {
        Self { kind: ErrorKind::Retry, message: message.into() }
    }

    /// The call failed for good; the model reads `message`.
    pub fn failed(message: impl Into<String>) -> Self {
        Self { kind: ErrorKind::Failed, message: message.into() }
    }

    /// The call failed for a reason that may pass.
    pub fn transient(message: impl Into<String>) -> Self {
        Self { kind: ErrorKind::Transient, message: message.into() }
    }

    /// The run cannot go on.
    pub fn fatal(message: impl Into<String>) -> Self {
        Self { kind: ErrorKind::Fatal, message: message.into() }
    }

    /// An error whose text may hold what the model must not see: `message` goes to events only.
    pub fn opaque(message: impl Into<String>) -> Self {
        Self { kind: ErrorKind::Opaque, message: message.into() }
    }

    /// What the failure means for the run.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Whether the run must end.
    pub fn is_fatal(&self) -> bool {
        self.kind == ErrorKind::Fatal
    }

    /// Whether the same call may succeed later.
    pub fn is_transient(&self) -> bool {
        self.kind == ErrorKind::Transient
    }

    /// The text for the model. `error_id` is what a person can look the error up by.
    pub fn for_model(&self, error_id: &str) -> String {
        match self.kind {
            ErrorKind::Opaque => format!("the tool failed with an internal error (error id {error_id})"),
            _ if self.message.is_empty() => "the tool failed without saying why".to_string(),
            _ => self.message.clone(),
        }
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.kind, self.message)
    }
}

impl<E: std::error::Error> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self::failed(error.to_string())
    }
}
