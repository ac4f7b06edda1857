//! The context of a run.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use serde_json::{Map, Value};

use super::{ModelSettings, RunControl, RunHandle, RunLimits};
use crate::harness::event::EventSink;
use crate::harness::id::{RunId, ThreadId};
use crate::harness::message::Message;
use crate::harness::source::{IdSource, RandomIds};
use crate::harness::workspace::WorkspaceDescriptor;

/// How one run differs from the harness's defaults.
#[derive(Debug, Clone, Default)]
pub struct RunConfig {
    /// The run's id; a fresh one if absent.
    pub run_id: Option<RunId>,
    /// The conversation the run belongs to.
    pub thread_id: Option<ThreadId>,
    /// The run that starts this one, if any.
    pub parent_run_id: Option<RunId>,
    /// The name of a registered model; the harness's default if absent.
    pub model: Option<String>,
    /// How many runs this one stands within: 0 for a run that no tool started.
    pub depth: u32,
    /// What the model is asked with, in place of the harness's settings.
    pub settings: Option<ModelSettings>,
    /// Limits in place of the policy's.
    pub limits: Option<RunLimits>,
    /// Where tools may work, in place of the harness's.
    pub workspace: Option<WorkspaceDescriptor>,
    /// The application's labels.
    pub tags: Vec<String>,
    /// The application's data about the run.
    pub metadata: Map<String, Value>,
}

/// The turn and the index of a call.
type Place = (u32, u32);

type Update<C> = Box<dyn FnOnce(&mut Arc<C>) + Send>;

struct Inner<C> {
    run_id: RunId,
    root_run_id: RunId,
    config: RunConfig,
    data: RwLock<Arc<C>>,
    updates: Mutex<Vec<(Place, Update<C>)>>,
    control: Arc<RunControl>,
    events: EventSink,
}

/// What a run is and carries, visible to tools and hooks but never to the model.
///
/// `Ctx` is the application's own data. A tool reads it with [`data`](Self::data) and changes it with
/// [`update`](Self::update): updates are applied in call order when the turn closes, so calls that run side by
/// side cannot race.
pub struct RunContext<Ctx = ()> {
    inner: Arc<Inner<Ctx>>,
    place: Place,
}

/// What the harness adds to a context when the run starts.
pub(crate) struct RunBinding {
    pub(crate) events: EventSink,
    pub(crate) workspace: Option<WorkspaceDescriptor>,
}

impl Default for RunContext<()> {
    fn default() -> Self {
        Self::new(RunConfig::default(), ())
    }
}

impl<Ctx> RunContext<Ctx> {
    /// A context for a run that is about to start.
    pub fn new(config: RunConfig, data: Ctx) -> Self {
        Self::with_ids(config, data, &RandomIds)
    }

    pub(crate) fn with_ids(config: RunConfig, data: Ctx, ids: &dyn IdSource) -> Self {
        let run_id = config.run_id.clone().unwrap_or_else(|| ids.run_id());
        let inner = Inner {
            root_run_id: config.parent_run_id.clone().unwrap_or_else(|| run_id.clone()),
            run_id,
            config,
            data: RwLock::new(Arc::new(data)),
            updates: Mutex::default(),
            control: Arc::default(),
            events: EventSink::default(),
        };
        Self { inner: Arc::new(inner), place: (0, 0) }
    }

    /// A context for a run within another one: with its data, as of now.
    pub(crate) fn within(outer: &Self, config: RunConfig, control: RunControl, ids: &dyn IdSource) -> Self {
        let inner = Inner {
            root_run_id: outer.root_run_id().clone(),
            run_id: ids.run_id(),
            config,
            data: RwLock::new(outer.data()),
            updates: Mutex::default(),
            control: Arc::new(control),
            events: EventSink::default(),
        };
        Self { inner: Arc::new(inner), place: (0, 0) }
    }

    /// A handle to cancel the run, to queue messages for it, and to read its transcript.
    pub fn handle(&self) -> RunHandle {
        RunHandle(Arc::clone(&self.inner.control))
    }

    /// The run.
    pub fn run_id(&self) -> &RunId {
        &self.inner.run_id
    }

    /// The run that started this one, if any.
    pub fn parent_run_id(&self) -> Option<&RunId> {
        self.inner.config.parent_run_id.as_ref()
    }

    /// The outermost run.
    pub fn root_run_id(&self) -> &RunId {
        &self.inner.root_run_id
    }

    /// The conversation.
    pub fn thread_id(&self) -> Option<&ThreadId> {
        self.inner.config.thread_id.as_ref()
    }

    /// How the run was configured.
    pub fn config(&self) -> &RunConfig {
        &self.inner.config
    }

    /// Where tools may work.
    pub fn workspace(&self) -> Option<&WorkspaceDescriptor> {
        self.inner.config.workspace.as_ref()
    }

    /// The sink of the run's events.
    pub fn events(&self) -> &EventSink {
        &self.inner.events
    }

    /// The application's data, as of the last closed turn.
    pub fn data(&self) -> Arc<Ctx> {
        Arc::clone(&self.inner.data.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Records a change of the application's data. It is applied when the turn closes, in call order. One that panics
    /// ends the run with an error, since the data may be half changed.
    pub fn update(&self, change: impl FnOnce(&mut Ctx) + Send + 'static)
    where
        Ctx: Clone,
    {
        let mut updates = self.inner.updates.lock().unwrap_or_else(PoisonError::into_inner);
        updates.push((self.place, Box::new(|data| change(Arc::make_mut(data)))));
    }

    pub(crate) fn control(&self) -> &RunControl {
        &self.inner.control
    }

    /// Joins the context to the run that it starts.
    pub(crate) fn bind(mut self, binding: RunBinding) -> Self {
        // A context is handed in by value and cannot be cloned by its owner, so it is unique here.
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.events = binding.events;
            if inner.config.workspace.is_none() {
                inner.config.workspace = binding.workspace;
            }
        }
        self
    }

    /// Forgets what a call has recorded, because it is made again.
    pub(crate) fn forget_updates(&self, turn: u32, call_index: u32) {
        let mut updates = self.inner.updates.lock().unwrap_or_else(PoisonError::into_inner);
        updates.retain(|(place, _)| *place != (turn, call_index));
    }

    /// Applies the changes that the calls of a turn recorded, in call order. Those of earlier turns came too late,
    /// from bodies that were given up on.
    pub(crate) fn apply_updates(&self, turn: u32) {
        let mut updates =
            std::mem::take(&mut *self.inner.updates.lock().unwrap_or_else(PoisonError::into_inner));
        if updates.is_empty() {
            return;
        }
        updates.retain(|((of, _), _)| *of == turn);
        updates.sort_by_key(|(place, _)| *place);
        let mut data = self.inner.data.write().unwrap_or_else(PoisonError::into_inner);
        for (_, update) in updates {
            update(&mut data);
        }
    }

    /// The transcript of a run that is over: copied only if somebody else can still read it.
    pub(crate) fn last_transcript(&self) -> Vec<Message> {
        // A handle reads it, and so does the context that a body has which was given up on.
        let shared = Arc::strong_count(&self.inner) > 1 || Arc::strong_count(&self.inner.control) > 1;
        self.inner.control.with_history(|history| match shared {
            true => history.messages().to_vec(),
            false => std::mem::take(history).into_messages(),
        })
    }

    /// The same context as one call sees it.
    pub(crate) fn at_call(&self, turn: u32, call_index: u32) -> Self {
        Self { inner: Arc::clone(&self.inner), place: (turn, call_index) }
    }
}

impl<Ctx> fmt::Debug for RunContext<Ctx> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunContext").field("run_id", self.run_id()).finish_non_exhaustive()
    }
}
