//! Where a run keeps things: key-value stores by namespace, and artifacts.
//!
//! Guarantee: a failing store is reported, never passed over.
//!
//! Everything here is in memory; the traits are the seat for stores that last.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use serde_json::Value;

/// A store failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{store}: {reason}")]
pub struct StoreError {
    /// Which store.
    pub store: String,
    /// What went wrong.
    pub reason: String,
}

/// Values by key.
#[async_trait]
pub trait Store: Send + Sync {
    /// The value of a key.
    ///
    /// # Errors
    ///
    /// The store failed.
    async fn get(&self, key: &str) -> Result<Option<Value>, StoreError>;

    /// Sets the value of a key.
    ///
    /// # Errors
    ///
    /// The store failed; whether the value was kept is unknown.
    async fn put(&self, key: &str, value: Value) -> Result<(), StoreError>;

    /// Removes a key; a key that does not exist is no error.
    ///
    /// # Errors
    ///
    /// The store failed.
    async fn delete(&self, key: &str) -> Result<(), StoreError>;

    /// All entries whose key begins with `prefix`, in the order of their keys.
    ///
    /// # Errors
    ///
    /// The store failed.
    async fn scan(&self, prefix: &str) -> Result<Vec<(String, Value)>, StoreError>;
}

/// Whole outputs that were too large for the model.
#[async_trait]
pub trait ArtifactStore: Send + Sync {
    /// Keeps bytes under a key.
    ///
    /// # Errors
    ///
    /// The store failed.
    async fn put(&self, key: &str, media_type: &str, bytes: Vec<u8>) -> Result<(), StoreError>;

    /// The bytes of a key.
    ///
    /// # Errors
    ///
    /// The store failed.
    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError>;
}

/// A store in memory.
#[derive(Debug, Default)]
pub struct MemoryStore(Mutex<BTreeMap<String, Value>>);

impl MemoryStore {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Value>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn get(&self, key: &str) -> Result<Option<Value>, StoreError> {
        Ok(self.lock().get(key).cloned())
    }

    async fn put(&self, key: &str, value: Value) -> Result<(), StoreError> {
        self.lock().insert(key.to_string(), value);
        Ok(())
    }

    async fn delete(&self, key: &str) -> Result<(), StoreError> {
        self.lock().remove(key);
        Ok(())
    }

    async fn scan(&self, prefix: &str) -> Result<Vec<(String, Value)>, StoreError> {
        let entries = self.lock();
        let from = entries.range(prefix.to_string()..).take_while(|(key, _)| key.starts_with(prefix));
        Ok(from.map(|(key, value)| (key.clone(), value.clone())).collect())
    }
}

/// Artifacts in memory.
#[derive(Debug, Default)]
pub struct MemoryArtifacts(Mutex<HashMap<String, Vec<u8>>>);

impl MemoryArtifacts {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl ArtifactStore for MemoryArtifacts {
    async fn put(&self, key: &str, _: &str, bytes: Vec<u8>) -> Result<(), StoreError> {
        self.lock().insert(key.to_string(), bytes);
        Ok(())
    }

    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.lock().get(key).cloned())
    }
}

/// The stores of a harness. Cheap to clone; clones share the stores.
///
/// A namespace that was not given a store of its own gets one in memory when it is first asked for. There is no
/// artifact store unless [`with_artifacts`](Self::with_artifacts) sets one.
#[derive(Clone, Default)]
pub struct StoreRegistry {
    stores: Arc<Mutex<HashMap<String, Arc<dyn Store>>>>,
    artifacts: Option<Arc<dyn ArtifactStore>>,
}

impl StoreRegistry {
    /// A registry in memory, without an artifact store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Keeps a namespace in the given store.
    pub fn with_store(self, namespace: impl Into<String>, store: impl Store + 'static) -> Self {
        self.lock().insert(namespace.into(), Arc::new(store));
        self
    }

    /// Keeps large outputs in the given store.
    pub fn with_artifacts(mut self, artifacts: impl ArtifactStore + 'static) -> Self {
        self.artifacts = Some(Arc::new(artifacts));
        self
    }

    /// The store of a namespace.
    pub fn get(&self, namespace: &str) -> Arc<dyn Store> {
        let mut stores = self.lock();
        if let Some(store) = stores.get(namespace) {
            return Arc::clone(store);
        }
        let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
        stores.insert(namespace.to_string(), Arc::clone(&store));
        store
    }

    /// The artifact store, if there is one.
    pub fn artifacts(&self) -> Option<&Arc<dyn ArtifactStore>> {
        self.artifacts.as_ref()
    }

    /// The store of a namespace, with its name: what `#[inject("namespace")] store: StoreHandle` gets.
    pub fn handle(&self, namespace: impl Into<Arc<str>>) -> StoreHandle {
        let namespace = namespace.into();
        StoreHandle { store: self.get(&namespace), namespace }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<dyn Store>>> {
        self.stores.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for StoreRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreRegistry").field("artifacts", &self.artifacts.is_some()).finish_non_exhaustive()
    }
}

/// One namespace of a [`StoreRegistry`]. Cheap to clone; clones share the store.
#[derive(Clone)]
pub struct StoreHandle {
    namespace: Arc<str>,
    store: Arc<dyn Store>,
}

impl StoreHandle {
    /// The namespace.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The value of a key.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn get(&self, key: &str) -> Result<Option<Value>, StoreError> {
        self.store.get(key).await
    }

    /// Sets the value of a key.
    ///
    /// # Errors
    ///
    /// The store failed; whether the value was kept is unknown.
    pub async fn put(&self, key: &str, value: impl Into<Value>) -> Result<(), StoreError> {
        self.store.put(key, value.into()).await
    }

    /// Removes a key; a key that does not exist is no error.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn delete(&self, key: &str) -> Result<(), StoreError> {
        self.store.delete(key).await
    }

    /// All entries whose key begins with `prefix`, in the order of their keys.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn scan(&self, prefix: &str) -> Result<Vec<(String, Value)>, StoreError> {
        self.store.scan(prefix).await
    }
}

impl fmt::Debug for StoreHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreHandle").field("namespace", &self.namespace).finish_non_exhaustive()
    }
}
