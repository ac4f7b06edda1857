//! What tools need of the harness, found before anything runs.

use std::collections::HashMap;
use std::sync::Arc;

use super::Executor;
use super::body::caught;
use crate::TinyAgentsError;
use crate::error::{Missing, MissingNeed};
use crate::harness::context::LimitKind;
use crate::harness::credential::{CredentialRequest, Secret};
use crate::harness::tool::{Provided, RegisteredTool};

impl<S: Send + Sync + 'static, C: Send + Sync + 'static> Executor<S, C> {
    /// Gets what the tools said they need: each credential is asked for once. All that is missing is reported
    /// together.
    pub(crate) async fn provide<'a>(
        &mut self,
        tools: impl Iterator<Item = &'a Arc<RegisteredTool<S, C>>>,
    ) -> Result<(), TinyAgentsError> {
        let resources = self.provided.resources.clone();
        let mut secrets: HashMap<&'static str, Result<Secret<String>, String>> = HashMap::new();
        let mut missing = Vec::new();
        for tool in tools {
            let name = &tool.spec.name;
            for (ty, type_name) in tool.needs.resources() {
                if !resources.contains(*ty) {
                    let need = Missing::Resource((*type_name).into());
                    missing.push(MissingNeed { tool: name.to_string(), need });
                }
            }
            for &credential in tool.needs.credentials() {
                if !secrets.contains_key(credential) {
                    let found = self.credential(credential).await?;
                    secrets.insert(credential, found);
                }
                if let Some(Err(reason)) = secrets.get(credential) {
                    let need = Missing::Credential { name: credential.into(), reason: reason.clone() };
                    missing.push(MissingNeed { tool: name.to_string(), need });
                }
            }
        }
        if !missing.is_empty() {
            return Err(TinyAgentsError::NotProvided(missing));
        }
        if !secrets.is_empty() {
            let secrets = secrets.into_iter().filter_map(|(name, secret)| Some((name, secret.ok()?)));
            self.provided = Arc::new(Provided { secrets: secrets.collect(), resources });
        }
        Ok(())
    }

    /// Asks for one credential, within the run's time.
    async fn credential(
        &self,
        name: &'static str,
    ) -> Result<Result<Secret<String>, String>, TinyAgentsError> {
        let Some(provider) = &self.credentials else {
            let way_out = "the harness has no credentials; give it some with `AgentHarness::with_credentials`, such as \
                           `EnvCredentials`";
            return Ok(Err(way_out.into()));
        };
        let request = CredentialRequest::new(name, self.ctx.run_id(), self.ctx.thread_id());
        let answer = caught("the credential provider", async { provider.credential(request).await });
        let answer = tokio::time::timeout_at(self.budget.deadline, answer);
        let Ok(answer) = answer.await else {
            return Err(TinyAgentsError::LimitReached(LimitKind::Duration));
        };
        Ok(match answer {
            Ok(Ok(Some(secret))) => Ok(secret),
            Ok(Ok(None)) => Err("the harness's credentials have none of this name".into()),
            Ok(Err(error)) => Err(error.to_string()),
            Err(panic) => Err(panic),
        })
    }
}
