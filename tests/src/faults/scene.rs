//! A run with calls of every kind, and what must hold of it afterwards.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tinyagents::harness::context::{RunContext, RunHandle, RunLimits, RunPolicy};
use tinyagents::harness::event::{AgentEvent, Effects, EventRecord};
use tinyagents::harness::executor::ExecutorBounds;
use tinyagents::harness::id::RunId;
use tinyagents::harness::message::{History, Message, ProviderRules, ToolCall};
use tinyagents::harness::policy::{ToolAccess, ToolPolicy, ToolRuntimePolicy};
use tinyagents::harness::runtime::{AgentHarness, SubAgent};
use tinyagents::harness::store::StoreRegistry;
use tinyagents::harness::tool::{Tool, ToolError, ToolOutput, ToolResult, ToolRuntime, ToolSpec};

use super::parts::{Caller, Hooks, Person, Runs, Shelf};
use super::steps::{STEP, Step, Striker};
use crate::fixture::{Count, Recorder};

/// The run's time and its grace.
pub const TIME: std::time::Duration = std::time::Duration::from_secs(60);
pub const GRACE: std::time::Duration = std::time::Duration::from_secs(5);

/// What a call does, or why it cannot run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Read,
    Mutate,
    Promoted,
    Nested,
    NestedRead,
    Blocking,
    Asked,
    Refused,
    Retried,
    Large,
    Failing,
    Unknown,
    Invalid,
    NoJson,
    Denied,
    Echo,
}

impl Kind {
    pub const ALL: [Self; 16] = [
        Self::Read,
        Self::Mutate,
        Self::Promoted,
        Self::Nested,
        Self::NestedRead,
        Self::Blocking,
        Self::Asked,
        Self::Refused,
        Self::Retried,
        Self::Large,
        Self::Failing,
        Self::Unknown,
        Self::Invalid,
        Self::NoJson,
        Self::Denied,
        Self::Echo,
    ];

    fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }

    fn policy(self) -> ToolPolicy {
        let runtime = |runtime| ToolPolicy::read_only().with_runtime(runtime);
        let asks = ToolAccess { approval_required: true, ..ToolAccess::default() };
        match self {
            Self::Read | Self::Blocking | Self::Failing => ToolPolicy::read_only(),
            Self::Asked | Self::Refused => ToolPolicy::classified().with_access(asks),
            Self::Retried => runtime(ToolRuntimePolicy { max_retries: 2, ..Default::default() }),
            Self::Large => runtime(ToolRuntimePolicy { max_result_bytes: Some(100), ..Default::default() }),
            _ => ToolPolicy::classified(),
        }
    }

    fn call(self, index: usize) -> ToolCall {
        let id = format!("c{index}");
        match self {
            Self::Nested | Self::NestedRead => ToolCall::new(id, self.name(), json!({ "task": "look" })),
            Self::Invalid => ToolCall::new(id, "read", json!({ "n": "one" })),
            Self::NoJson => ToolCall::from_text(id, "read", "{"),
            _ => ToolCall::new(id, self.name(), json!({ "n": index })),
        }
    }
}

/// The calls of a turn; an echo repeats the call before it.
fn calls(kinds: &[Kind]) -> Vec<ToolCall> {
    let mut calls: Vec<ToolCall> = Vec::new();
    for (index, kind) in kinds.iter().enumerate() {
        let call = match (kind, calls.last()) {
            (Kind::Echo, Some(last)) => last.clone(),
            (Kind::Echo, None) => Kind::Read.call(index),
            _ => kind.call(index),
        };
        calls.push(call);
    }
    calls
}

/// What the bodies of a scene did.
#[derive(Clone, Default)]
pub struct Bodies {
    live: Arc<Mutex<i32>>,
    /// How often each call of each run was started.
    starts: Arc<Mutex<HashMap<(RunId, String), u32>>>,
    /// How many async bodies came to their end.
    pub ended: Count,
}

/// Stands for a body that has not been dropped.
struct Alive(Bodies);

impl Drop for Alive {
    fn drop(&mut self) {
        *self.0.live.lock().unwrap() -= 1;
    }
}

impl Bodies {
    fn enter(&self, run: &RunId, call: &ToolCall) -> (Alive, u32) {
        *self.live.lock().unwrap() += 1;
        let mut starts = self.starts.lock().unwrap();
        let times = starts.entry((run.clone(), call.id.to_string())).or_default();
        *times += 1;
        (Alive(self.clone()), *times)
    }
}

/// A tool of one kind.
struct Probe {
    kind: Kind,
    striker: Striker,
    bodies: Bodies,
}

#[tinyagents::async_trait]
impl Tool<()> for Probe {
    fn spec(&self) -> ToolSpec {
        let schema = json!({
            "type": "object",
            "properties": { "n": { "type": "integer" } },
            "required": ["n"],
            "additionalProperties": false
        });
        ToolSpec::new(self.kind.name(), "Does what a test wants.", schema)
    }

    fn policy(&self) -> ToolPolicy {
        self.kind.policy()
    }

    fn effect(&self, _: &Value) -> tinyagents::harness::tool::ToolClass {
        self.striker.now(Step::Effect);
        self.class()
    }

    fn grant_keys(&self, _: &Value) -> Vec<String> {
        self.striker.now(Step::GrantKeys);
        vec!["all".into()]
    }

    fn is_blocking(&self) -> bool {
        self.kind == Kind::Blocking
    }

    async fn call(&self, _: &(), runtime: ToolRuntime<'_>, call: ToolCall) -> tinyagents::Result<ToolResult> {
        let (_alive, times) = self.bodies.enter(runtime.ctx.run_id(), &call);
        let update = self.striker.clone();
        runtime.ctx.update(move |()| update.now(Step::Update));
        if self.kind == Kind::Blocking {
            // A thread that hangs cannot be taken back.
            self.striker.now(Step::Body);
        } else {
            self.striker.at(Step::Body).await.map_err(ToolError::failed)?;
            tokio::time::sleep(STEP).await;
            self.striker.at(Step::BodyLater).await.map_err(ToolError::failed)?;
            self.bodies.ended.add();
        }
        match self.kind {
            Kind::Retried if times == 1 => Err(ToolError::transient("not yet").into()),
            Kind::Failing => Err(ToolError::failed("no luck").into()),
            Kind::Large => Ok(ToolOutput::text("x".repeat(300)).into_result(&call)),
            _ => Ok(ToolOutput::text("done").into_result(&call)),
        }
    }
}

/// A run with calls of some kinds, and everything to judge it by.
pub struct Scene {
    pub harness: AgentHarness<()>,
    pub striker: Striker,
    pub events: Recorder,
    pub bodies: Bodies,
    runs: Runs,
}

impl Scene {
    /// `tight`: every bound on what runs side by side in the tree is 1, so that calls wait in line.
    pub fn new(kinds: &[Kind], tight: bool, striker: Striker) -> Self {
        let (events, bodies, runs) = (Recorder::default(), Bodies::default(), Runs::default());
        let mut harness: AgentHarness<()> = AgentHarness::new();
        let listener = striker.clone();
        let probe = |kind| Probe { kind, striker: striker.clone(), bodies: bodies.clone() };
        let tools = Kind::ALL
            .into_iter()
            .filter(|kind| !matches!(kind, Kind::Unknown | Kind::Nested | Kind::NestedRead | Kind::Echo));
        for kind in tools {
            harness.register_tool(probe(kind)).unwrap();
        }
        let model = |calls| Caller { calls, striker: striker.clone() };
        let agent = |kind: Kind, model: &str| SubAgent::new(kind.name(), "Looks around.").with_model(model);
        harness.promote("promoted").unwrap();
        harness.register_tool(agent(Kind::Nested, "inner").into_tool()).unwrap();
        harness.register_tool(agent(Kind::NestedRead, "reader").reads_only().into_tool()).unwrap();
        harness.register_model("default", model(calls(kinds))).unwrap();
        harness.register_model("inner", model(calls(&[Kind::Read, Kind::Mutate, Kind::Asked]))).unwrap();
        harness.register_model("reader", model(calls(&[Kind::Read, Kind::Large]))).unwrap();
        // The one that fails comes first: it must not keep the events from the other.
        harness.with_listener(move |_: &EventRecord| listener.now(Step::Listener));
        harness.with_listener(events.listener());
        harness.with_middleware(Hooks { striker: striker.clone(), runs: Arc::clone(&runs) });
        harness.with_approver(Person(striker.clone()));
        harness.with_stores(StoreRegistry::new().with_artifacts(Shelf(striker.clone())));
        harness.with_policy(RunPolicy {
            grace: GRACE,
            limits: RunLimits { max_duration: TIME, ..RunLimits::default() },
            ..RunPolicy::recovering()
        });
        if tight {
            let one = ExecutorBounds {
                max_bodies: 1,
                max_runs_per_depth: 1,
                max_model_requests: 1,
                ..ExecutorBounds::default()
            };
            harness.with_bounds(one).unwrap();
        }
        Self { harness, striker, events, bodies, runs }
    }

    /// A context for the run; a planned cancel is for this one.
    pub fn context(&self) -> (RunContext, RunHandle) {
        let ctx = RunContext::default();
        let handle = ctx.handle();
        self.striker.aim(handle.clone());
        (ctx, handle)
    }

    /// Everything that does not hold of the run with this handle and of the runs within it.
    pub fn problems(&self, handle: &RunHandle) -> Vec<String> {
        let mut problems = Vec::new();
        let live = *self.bodies.live.lock().unwrap();
        if live != 0 {
            problems.push(format!("{live} bodies still live"));
        }
        let mut transcripts: HashMap<RunId, Arc<Vec<Message>>> = HashMap::new();
        for (id, run) in self.runs.lock().unwrap().iter() {
            transcripts.insert(id.clone(), run.transcript());
        }
        let known = transcripts.values().any(|known| **known == *handle.transcript());
        if !known && !handle.transcript().is_empty() {
            transcripts.insert("root".into(), handle.transcript());
        }
        for (id, transcript) in &transcripts {
            for rules in ProviderRules::all() {
                if let Err(broken) = rules.check(transcript) {
                    problems.push(format!("{} refuses {id}: {broken:?}", rules.provider));
                }
            }
            if let Err(error) = History::from_messages(transcript.to_vec()) {
                problems.push(format!("{id} cannot go on: {error}"));
            }
        }
        let records = self.events.records();
        problems.extend(super::judge::events(&records, &transcripts));
        let (mut started, mut unstarted) = (HashSet::new(), HashSet::new());
        for record in &records {
            match &record.event {
                AgentEvent::ToolStarted { call_id, .. } => started.insert((&record.run_id, call_id.as_str())),
                AgentEvent::ToolFailed { call_id, effects: Effects::None, .. } => {
                    unstarted.insert((&record.run_id, call_id.as_str()))
                }
                _ => false,
            };
        }
        for ((run, call), times) in self.bodies.starts.lock().unwrap().iter() {
            if *times > 2 {
                problems.push(format!("{run}: the body of {call} ran {times} times"));
            }
            if !started.contains(&(run, call)) || unstarted.contains(&(run, call)) {
                problems.push(format!("{run}: {call} ran, and its events say that it did not"));
            }
        }
        problems
    }
}
