//! How a tool fails.

use std::any::Any;
use std::error::Error;
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
    /// A person must approve before the tool may go on. Until runs can be suspended the call is refused: the model
    /// is told that nobody can be asked. Never retried, never fatal.
    Approval,
    /// The tool cannot go on before something outside the run has happened. As `Approval`: refused for now.
    Suspended,
    /// The turn is closed whole, then the run ends with this error.
    Fatal,
}

/// The error of a tool.
///
/// Like `anyhow::Error` it is made from any `std::error::Error` by `?`, and therefore does not implement that
/// trait itself. The error it was made of is kept for the application: [`downcast_ref`](Self::downcast_ref).
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
    source: Option<Box<dyn Kept>>,
}

/// An error that a tool error was made of.
trait Kept: Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn as_error(&self) -> Option<&(dyn Error + 'static)>;
}

struct Typed<E>(E);

impl<E: Error + Send + Sync + 'static> Kept for Typed<E> {
    fn as_any(&self) -> &dyn Any {
        &self.0
    }

    fn as_error(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

/// Of a type that hides the error within, as `anyhow::Error` does.
struct Erased<E>(E);

impl<E: Send + Sync + 'static> Kept for Erased<E> {
    fn as_any(&self) -> &dyn Any {
        &self.0
    }

    fn as_error(&self) -> Option<&(dyn Error + 'static)> {
        let boxed = self.as_any().downcast_ref::<Box<dyn Error + Send + Sync>>()?;
        Some(&**boxed)
    }
}

impl ToolError {
    fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// The model should mend its arguments; `message` says how.
    pub fn retry_with(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Retry, message)
    }

    /// The call failed for good; the model reads `message`.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Failed, message)
    }

    /// The call failed for a reason that may pass.
    pub fn transient(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Transient, message)
    }

    /// The run cannot go on.
    pub fn fatal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Fatal, message)
    }

    /// An error whose text may hold what the model must not see: `message` goes to events only.
    pub fn opaque(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Opaque, message)
    }

    /// A person must approve what `message` describes before the tool may do it.
    ///
    /// Runs cannot be suspended yet, so the call's result says that nobody can be asked, and the failure is recorded
    /// as `FailureKind::Denied`. Do what needs approval only after it was given: the body is not undone.
    pub fn approval(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Approval, message)
    }

    /// The tool waits for what `message` describes: an answer, a payment, a job that runs elsewhere.
    ///
    /// Runs cannot be suspended yet: as [`approval`](Self::approval).
    pub fn suspend(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Suspended, message)
    }

    /// An error whose text may hold what the model must not see, kept whole for the application.
    pub(crate) fn erased<E: fmt::Display + Send + Sync + 'static>(error: E) -> Self {
        let message = error.to_string();
        Self { source: Some(Box::new(Erased(error))), ..Self::opaque(message) }
    }

    /// Keeps the error that this one was made of. The model does not see it, only the words of this error.
    ///
    /// ```
    /// use tinyagents::harness::tool::ToolError;
    ///
    /// let error = "x".parse::<u8>().unwrap_err();
    /// let error = ToolError::retry_with("`count` must be a number below 256").with_source(error);
    /// assert!(error.downcast_ref::<std::num::ParseIntError>().is_some());
    /// ```
    pub fn with_source(self, source: impl Error + Send + Sync + 'static) -> Self {
        Self { source: Some(Box::new(Typed(source))), ..self }
    }

    /// The error that this one was made of, if it is an `E`: the tool's own typed error, or the erased one as it was
    /// returned (`anyhow::Error`, `Box<dyn Error + Send + Sync>`), which has a `downcast_ref` of its own.
    pub fn downcast_ref<E: 'static>(&self) -> Option<&E> {
        self.source.as_ref()?.as_any().downcast_ref()
    }

    /// The error that this one was made of, if its type is known to be an error.
    pub fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_ref()?.as_error()
    }

    /// What the failure means for the run.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Whether the run must end.
    pub fn is_fatal(&self) -> bool {
        self.kind == ErrorKind::Fatal
    }

    /// Whether the tool asks for a person: neither a failure of its own nor worth a retry.
    pub fn needs_person(&self) -> bool {
        matches!(self.kind, ErrorKind::Approval | ErrorKind::Suspended)
    }

    /// Whether the same call may succeed later.
    pub fn is_transient(&self) -> bool {
        self.kind == ErrorKind::Transient
    }

    /// The text for the model. `error_id` is what a person can look the error up by.
    pub fn for_model(&self, error_id: &str) -> String {
        match self.kind {
            ErrorKind::Opaque => format!("the tool failed with an internal error (error id {error_id})"),
            ErrorKind::Approval => {
                let what = if self.message.is_empty() { "this call" } else { &self.message };
                format!(
                    "a person must approve this first, and nobody can be asked in this run: {what}; do not repeat the \
                     call, tell the user what is needed"
                )
            }
            ErrorKind::Suspended => {
                let what = if self.message.is_empty() { "this call" } else { &self.message };
                format!(
                    "this needs a person or an event outside the run, and this run cannot wait for one: {what}; do not \
                     repeat the call, tell the user what is needed"
                )
            }
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

impl<E: Error + Send + Sync + 'static> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self::failed(error.to_string()).with_source(error)
    }
}
