//! The values that the library injects.
//!
//! Guarantee: each is made for one call, from its run and its place in it; what another call gets is another value.
//!
//! Not here: values of an application, which implements `Inject` for them.

use std::any::Any;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use std::collections::HashMap;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{Inject, InjectContext, InjectKeyed, Needs, ToolError};
use crate::harness::credential::Secret;
use crate::harness::event::{AgentEvent, EventSink};
use crate::harness::id::{IdempotencyKey, RunId, ThreadId, ToolCallId};
use crate::harness::message::ArtifactRef;
use crate::harness::resource::{Resource, Resources};
use crate::harness::store::{ArtifactStore, StoreError, StoreHandle, StoreRegistry};
use crate::harness::workspace::WorkspaceDescriptor;

/// What a run gives to its calls: everything that their tools said they need.
#[derive(Default)]
pub(crate) struct Provided {
    pub(crate) secrets: HashMap<&'static str, Secret<String>>,
    pub(crate) resources: Resources,
}

/// One call's place in its run.
pub(crate) struct CallScope {
    pub(crate) turn: u32,
    pub(crate) index: u32,
    /// From 1.
    pub(crate) attempt: u32,
    pub(crate) deadline: Instant,
    pub(crate) provided: Arc<Provided>,
    /// What starts nested runs, for a call that may.
    pub(crate) nested: Option<Starting>,
    /// Whether nested runs may only read.
    pub(crate) reads_only: bool,
    /// What the call has put into the artifact store, if there is one.
    pub(crate) kept: Option<Arc<Mutex<Vec<ArtifactRef>>>>,
}

/// What a call starts nested runs with.
pub(crate) struct Starting {
    pub(crate) seat: Arc<dyn Any + Send + Sync>,
    /// The call's permits, which it gives back when it ends.
    pub(crate) permits: Weak<dyn Any + Send + Sync>,
    /// Held by the run that lives: the permits are for one at a time.
    pub(crate) one: Arc<tokio::sync::Mutex<()>>,
}

macro_rules! injects {
    ($($(#[$doc:meta])* $type:ty => |$cx:ident| $value:expr;)*) => {$(
        $(#[$doc])*
        impl<State, Ctx> Inject<State, Ctx> for $type {
            fn inject($cx: &InjectContext<'_, State, Ctx>) -> Result<Self, ToolError> {
                $value
            }
        }
    )*};
}

injects! {
    /// The run.
    RunId => |cx| Ok(cx.runtime.ctx.run_id().clone());
    /// The conversation, if the run belongs to one.
    Option<ThreadId> => |cx| Ok(cx.runtime.ctx.thread_id().cloned());
    /// The conversation; an error in a run that belongs to none.
    ThreadId => |cx| cx.runtime.ctx.thread_id().cloned().ok_or_else(|| {
        ToolError::fatal("the tool needs a thread id; set `RunConfig::thread_id`")
    });
    /// The call.
    ToolCallId => |cx| Ok(cx.call.id.clone());
    /// What makes a repeated call have its effect once.
    IdempotencyKey => |cx| {
        let scope = cx.runtime.scope;
        Ok(format!("{}-{}-{}", cx.runtime.ctx.run_id(), scope.turn, scope.index).into())
    };
    /// How often the call has been started.
    Attempt => |cx| Ok(Attempt(cx.runtime.scope.attempt));
    /// By when the call must have ended.
    Deadline => |cx| Ok(Deadline(cx.runtime.scope.deadline));
    /// Says when the call should end early.
    CancellationToken => |cx| Ok(cx.runtime.cancellation.clone());
    /// The sink for this call's events.
    EventSink => |cx| Ok(cx.runtime.events.clone());
    /// Stores and artifacts.
    StoreRegistry => |cx| Ok(cx.runtime.stores.clone());
    /// The stream of this call's progress.
    Progress => |cx| Ok(Progress { events: cx.runtime.events.clone() });
    /// Where the run's tools may work; an error in a run without a workspace.
    WorkspaceDescriptor => |cx| cx.runtime.ctx.workspace().cloned().ok_or_else(|| {
        ToolError::fatal("the tool needs a workspace; use `AgentHarness::with_workspace`")
    });
    /// This call's part of the artifact store; `None` in a run without one.
    Option<Artifacts> => |cx| Ok(Artifacts::of(cx));
    /// This call's part of the artifact store; an error in a run without one.
    Artifacts => |cx| Artifacts::of(cx).ok_or_else(|| {
        let text = "the tool keeps artifacts, and this run has no store for them; give the harness one with \
                    `StoreRegistry::with_artifacts`";
        ToolError::fatal(text)
    });
}

/// A value of the application, found by its type. A run whose harness has none does not start.
impl<State, Ctx, T: Send + Sync + 'static> Inject<State, Ctx> for Resource<T> {
    fn inject(cx: &InjectContext<'_, State, Ctx>) -> Result<Self, ToolError> {
        cx.runtime.scope.provided.resources.get().ok_or_else(|| {
            let name = std::any::type_name::<T>();
            ToolError::fatal(format!(
                "the harness has no resource of type `{name}`; add one with `AgentHarness::with_resource`"
            ))
        })
    }

    fn needs(needs: &mut Needs) {
        needs.resource::<T>();
    }
}

/// A namespace of the run's stores.
impl<State, Ctx> InjectKeyed<State, Ctx> for StoreHandle {
    fn inject(cx: &InjectContext<'_, State, Ctx>, key: &'static str) -> Result<Self, ToolError> {
        Ok(cx.runtime.stores.handle(key))
    }
}

/// A credential. A run whose provider has none of this name does not start.
impl<State, Ctx, T: FromStr + 'static> InjectKeyed<State, Ctx> for Secret<T> {
    fn inject(cx: &InjectContext<'_, State, Ctx>, key: &'static str) -> Result<Self, ToolError> {
        let Some(text) = cx.runtime.scope.provided.secrets.get(key) else {
            return Err(ToolError::fatal(format!(
                "the credential `{key}` was not asked for when the run started; a value that is made of it must say \
                 so in `needs`"
            )));
        };
        // A clone of the text is the secret itself; another type is made of it. What `from_str` says of a mistake
        // may repeat the text, so nobody is told.
        let text: &Secret<String> = text;
        let same: &dyn std::any::Any = text;
        if let Some(secret) = same.downcast_ref::<Self>() {
            return Ok(secret.clone());
        }
        text.expose_secret().parse().map(Self::new).map_err(|_| {
            ToolError::fatal(format!(
                "the credential `{key}` is no valid `{}`; mend its value where it is kept",
                std::any::type_name::<T>()
            ))
        })
    }

    fn needs(key: &'static str, needs: &mut Needs) {
        needs.credential(key);
    }
}

/// How often a call has been started, this time included: 1 for the first attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Attempt(u32);

impl Attempt {
    /// The number, from 1.
    pub fn number(self) -> u32 {
        self.0
    }

    /// Whether the call was not started before.
    pub fn is_first(self) -> bool {
        self.0 == 1
    }
}

/// By when a call must have ended: the tool's timeout or the run's time, whichever is over first. A body that still
/// runs then is told to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline(Instant);

impl Deadline {
    /// The instant.
    pub fn at(self) -> std::time::Instant {
        self.0.into_std()
    }

    /// The time that is left; zero once it is over.
    pub fn remaining(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }

    /// Whether the time is over.
    pub fn is_over(self) -> bool {
        self.remaining().is_zero()
    }
}

/// Reports how far a call is, as `tool.progress` events.
#[derive(Debug, Clone)]
pub struct Progress {
    events: EventSink,
}

impl Progress {
    /// Reports one step.
    pub fn report(&self, message: impl Into<String>) {
        self.events.emit_with(|| AgentEvent::ToolProgress { message: message.into() });
    }
}

/// One call's part of the run's artifact store: no other call reads or overwrites what it puts there by name.
///
/// What a call puts is listed in its result (`ToolResult::artifacts`), where the application finds the whole keys.
#[derive(Clone)]
pub struct Artifacts {
    store: Arc<dyn ArtifactStore>,
    prefix: String,
    kept: Arc<Mutex<Vec<ArtifactRef>>>,
}

impl Artifacts {
    fn of<State, Ctx>(cx: &InjectContext<'_, State, Ctx>) -> Option<Self> {
        let scope = cx.runtime.scope;
        Some(Self {
            store: Arc::clone(cx.runtime.stores.artifacts()?),
            prefix: format!("{}/{}/{}", cx.runtime.ctx.run_id(), scope.turn, scope.index),
            kept: scope.kept.clone()?,
        })
    }

    /// Keeps bytes under a name of this call. A name that was used already is overwritten.
    ///
    /// # Errors
    ///
    /// The store failed, or the name is no plain relative path, such as `report.pdf` or `pages/1.html`.
    pub async fn put(
        &self,
        name: &str,
        media_type: &str,
        bytes: impl Into<Vec<u8>>,
    ) -> Result<ArtifactRef, StoreError> {
        let (key, bytes) = (self.key(name)?, bytes.into());
        let artifact = ArtifactRef {
            key,
            media_type: media_type.into(),
            bytes: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
        };
        self.store.put(&artifact.key, media_type, bytes).await?;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|other| other.key != artifact.key);
        kept.push(artifact.clone());
        Ok(artifact)
    }

    /// The bytes that this call put under a name.
    ///
    /// # Errors
    ///
    /// As [`put`](Self::put).
    pub async fn get(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.store.get(&self.key(name)?).await
    }

    /// The whole key of a name. No name leads out of the call's part.
    fn key(&self, name: &str) -> Result<String, StoreError> {
        if name.split(['/', '\\']).any(|part| matches!(part, "" | "." | "..")) {
            return Err(StoreError {
                store: "artifacts".into(),
                reason: format!("`{name}` is no name of an artifact; write one such as `report.pdf`"),
            });
        }
        Ok(format!("{}/{name}", self.prefix))
    }
}

impl fmt::Debug for Artifacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Artifacts").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}
