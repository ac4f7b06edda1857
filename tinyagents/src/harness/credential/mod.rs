//! Secrets, and where they come from.
//!
//! Guarantee: a [`Secret`] has no JSON schema, cannot be read from or written as JSON, and its `Debug` text is the
//! same for every value: a model argument, a result or a log line that holds one does not compile, or shows nothing.
//!
//! Not here: what a tool does with a value that it exposed.

mod secret;

pub use secret::Secret;

use async_trait::async_trait;

use super::id::{RunId, ThreadId};

/// What a provider is asked for.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct CredentialRequest<'a> {
    /// The credential's name, as a tool wrote it: `#[inject("GITHUB_TOKEN")]`.
    pub name: &'a str,
    /// The run that needs it.
    pub run_id: &'a RunId,
    /// The conversation the run belongs to, for providers that keep credentials per customer.
    pub thread_id: Option<&'a ThreadId>,
}

impl<'a> CredentialRequest<'a> {
    pub(crate) fn new(name: &'a str, run_id: &'a RunId, thread_id: Option<&'a ThreadId>) -> Self {
        Self { name, run_id, thread_id }
    }
}

/// Why a provider could not answer. The reason is for the application; no model reads it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct CredentialError {
    /// What went wrong. It must not hold a secret.
    pub reason: String,
}

impl CredentialError {
    /// An error with a reason, which must not hold a secret.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}

/// Where a run's credentials come from: the environment, a vault, a table per customer.
///
/// Every name that a tool of the harness injects is asked for once in each run, when the run starts, and kept until
/// it ends.
///
/// ```
/// use tinyagents::harness::credential::{CredentialError, CredentialProvider, CredentialRequest, Secret};
///
/// struct Vault;
///
/// #[tinyagents::async_trait]
/// impl CredentialProvider for Vault {
///     async fn credential(
///         &self,
///         request: CredentialRequest<'_>,
///     ) -> Result<Option<Secret<String>>, CredentialError> {
///         Ok((request.name == "GITHUB_TOKEN").then(|| Secret::from("from the vault")))
///     }
/// }
/// ```
#[async_trait]
pub trait CredentialProvider: Send + Sync {
    /// The credential of a name; `None` if there is no such credential.
    ///
    /// # Errors
    ///
    /// The provider could not find out. The run does not start.
    async fn credential(
        &self,
        request: CredentialRequest<'_>,
    ) -> Result<Option<Secret<String>>, CredentialError>;
}

/// Credentials from environment variables of the same name. An empty variable counts as missing.
#[derive(Debug, Clone, Copy, Default)]
pub struct EnvCredentials;

#[async_trait]
impl CredentialProvider for EnvCredentials {
    async fn credential(
        &self,
        request: CredentialRequest<'_>,
    ) -> Result<Option<Secret<String>>, CredentialError> {
        match std::env::var(request.name) {
            Ok(value) => Ok((!value.is_empty()).then(|| Secret::new(value))),
            Err(std::env::VarError::NotPresent) => Ok(None),
            Err(std::env::VarError::NotUnicode(_)) => {
                Err(CredentialError::new("the environment variable is not valid UTF-8"))
            }
        }
    }
}
