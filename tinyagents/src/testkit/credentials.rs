//! Credentials from a table.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;

use crate::harness::credential::{CredentialError, CredentialProvider, CredentialRequest, Secret};

/// Credentials from a table, and a record of what was asked for. Clones share both.
///
/// ```
/// use tinyagents::prelude::*;
/// use tinyagents::testkit::FixedCredentials;
///
/// let credentials = FixedCredentials::new([("GITHUB_TOKEN", "sk-test")]);
/// let mut harness: AgentHarness<()> = AgentHarness::new();
/// harness.with_credentials(credentials.clone());
/// assert!(credentials.asked().is_empty());
/// ```
#[derive(Debug, Clone, Default)]
pub struct FixedCredentials {
    table: Arc<BTreeMap<String, Secret<String>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl FixedCredentials {
    /// Names and values.
    pub fn new<N: Into<String>, V: Into<String>>(credentials: impl IntoIterator<Item = (N, V)>) -> Self {
        let entries = credentials.into_iter().map(|(name, value)| (name.into(), Secret::new(value.into())));
        Self { table: Arc::new(entries.collect()), asked: Arc::default() }
    }

    /// The names that were asked for, in order.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl CredentialProvider for FixedCredentials {
    async fn credential(
        &self,
        request: CredentialRequest<'_>,
    ) -> Result<Option<Secret<String>>, CredentialError> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(request.name.to_string());
        Ok(self.table.get(request.name).cloned())
    }
}
