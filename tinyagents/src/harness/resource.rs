//! Values of the application that tools find by their type at run time.
//!
//! Guarantee: a tool that injects a resource which the harness does not have keeps a run from starting.
//!
//! Not here: the state, whose parts are checked when the program is compiled. Prefer it where its type is known.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A value that was given to the harness, shared by all who inject it: `#[inject] db: Resource<Db>`.
///
/// Dereferences to the value. Clones share it.
pub struct Resource<T>(Arc<T>);

impl<T> Deref for Resource<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> Clone for Resource<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: fmt::Debug> fmt::Debug for Resource<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

/// The resources of a harness, one of each type.
#[derive(Clone, Default)]
pub(crate) struct Resources(HashMap<TypeId, Arc<dyn Any + Send + Sync>>);

impl Resources {
    /// Adds a value; one of the same type is replaced.
    pub(crate) fn insert<T: Send + Sync + 'static>(&mut self, value: T) {
        self.0.insert(TypeId::of::<T>(), Arc::new(value));
    }

    pub(crate) fn get<T: Send + Sync + 'static>(&self) -> Option<Resource<T>> {
        let value = Arc::clone(self.0.get(&TypeId::of::<T>())?);
        value.downcast().ok().map(Resource)
    }

    pub(crate) fn contains(&self, ty: TypeId) -> bool {
        self.0.contains_key(&ty)
    }
}
