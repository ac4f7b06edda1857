//! What a harness is made of.

use std::sync::{Arc, Mutex, PoisonError};

use super::RunPolicy;
use crate::harness::credential::CredentialProvider;
use crate::harness::event::{EventListener, PayloadCapture};
use crate::harness::executor::{Broker, ExecutorBounds};
use crate::harness::middleware::Middleware;
use crate::harness::model::{Model, ModelSettings};
use crate::harness::source::{Clock, IdSource, RandomIds, SystemClock};
use crate::harness::store::StoreRegistry;
use crate::harness::tool::dialect::SchemaDialect;
use crate::harness::tool::{Provided, ToolRegistry, ToolSet};
use crate::harness::workspace::WorkspaceDescriptor;
use crate::{Result, TinyAgentsError};

/// What was worked out, by provider; a few at most.
type ToolSets<S, C> = Mutex<Vec<(String, Arc<ToolSet<S, C>>)>>;

/// What a harness is made of, shared with its runs.
pub(super) struct Parts<S: Send + Sync, C: Send + Sync> {
    pub(super) models: Vec<(String, Arc<dyn Model>)>,
    pub(super) tools: ToolRegistry<S, C>,
    pub(super) tool_sets: Arc<ToolSets<S, C>>,
    pub(super) middleware: Vec<Arc<dyn Middleware<S, C>>>,
    pub(super) listeners: Vec<Arc<dyn EventListener>>,
    pub(super) capture: PayloadCapture,
    pub(super) policy: RunPolicy,
    pub(super) bounds: ExecutorBounds,
    pub(super) settings: ModelSettings,
    pub(super) stores: StoreRegistry,
    pub(super) workspace: Option<WorkspaceDescriptor>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) ids: Arc<dyn IdSource>,
    pub(super) credentials: Option<Arc<dyn CredentialProvider>>,
    pub(super) approver: Option<Arc<Broker>>,
    /// The resources, as runs share them.
    pub(super) provided: Arc<Provided>,
}

impl<S: Send + Sync, C: Send + Sync> Clone for Parts<S, C> {
    fn clone(&self) -> Self {
        Self {
            models: self.models.clone(),
            tools: self.tools.clone(),
            tool_sets: Arc::clone(&self.tool_sets),
            middleware: self.middleware.clone(),
            listeners: self.listeners.clone(),
            capture: self.capture,
            policy: self.policy.clone(),
            bounds: self.bounds.clone(),
            settings: self.settings.clone(),
            stores: self.stores.clone(),
            workspace: self.workspace.clone(),
            clock: Arc::clone(&self.clock),
            ids: Arc::clone(&self.ids),
            credentials: self.credentials.clone(),
            approver: self.approver.clone(),
            provided: Arc::clone(&self.provided),
        }
    }
}

impl<S: Send + Sync + 'static, C: Send + Sync + 'static> Parts<S, C> {
    pub(super) fn new() -> Self {
        Self {
            models: Vec::new(),
            tools: ToolRegistry::new(),
            tool_sets: Arc::default(),
            middleware: Vec::new(),
            listeners: Vec::new(),
            capture: PayloadCapture::default(),
            policy: RunPolicy::default(),
            bounds: ExecutorBounds::default(),
            settings: ModelSettings::default(),
            stores: StoreRegistry::new(),
            workspace: None,
            clock: Arc::new(SystemClock::default()),
            ids: Arc::new(RandomIds),
            credentials: None,
            approver: None,
            provided: Arc::default(),
        }
    }

    pub(super) fn model(&self, name: Option<&str>) -> Result<Arc<dyn Model>> {
        let named = |wanted: &str| self.models.iter().find(|(name, _)| name == wanted);
        let found = match name {
            Some(name) => named(name),
            None => named("default").or(self.models.first()),
        };
        let missing = || TinyAgentsError::ModelNotFound(name.unwrap_or("default").to_string());
        found.map(|(_, model)| Arc::clone(model)).ok_or_else(missing)
    }

    /// What a provider is shown: worked out once per provider and dialect, not once per run.
    pub(super) fn tool_set(&self, provider: &str, dialect: &SchemaDialect) -> Arc<ToolSet<S, C>> {
        let mut sets = self.tool_sets.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known = sets.iter().filter(|(known, _)| known == provider);
        if let Some((_, set)) = known.find(|(_, set)| set.adapted.dialect() == dialect) {
            return Arc::clone(set);
        }
        let set = Arc::new(self.tools.tool_set(provider, dialect));
        sets.push((provider.to_string(), Arc::clone(&set)));
        set
    }
}
