//! Watches a tree of runs: which bodies and runs are there, and whether any bound or order is broken by them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tinyagents::harness::event::EventRecord;
use tinyagents::harness::executor::ExecutorBounds;
use tinyagents::harness::id::RunId;
use tinyagents::harness::message::Message;
use tinyagents::harness::policy::ToolPolicy;
use tinyagents::harness::tool::{DynTool, Tool, ToolError};
use tinyagents::serde_json::json;

use crate::fixture::assert_whole;

/// What a body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    /// Reads, and no other of its tool runs beside it in the tree.
    Few,
    Change,
    Promoted,
}

#[derive(Clone)]
pub(super) struct Watch {
    bounds: ExecutorBounds,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    bodies: Vec<(RunId, Kind)>,
    /// The runs that live, with their parents.
    live: HashMap<RunId, Option<RunId>>,
    depths: HashMap<RunId, usize>,
    /// How many calls of `careful` go on at each depth.
    careful: [u32; 4],
    transcripts: Vec<Vec<Message>>,
    seen: Seen,
    broken: Vec<String>,
}

/// What was seen of a tree.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    pub(super) runs: u32,
    pub(super) bodies: u32,
    pub(super) peak_bodies: u32,
    /// By depth.
    pub(super) peak_runs: [u32; 4],
}

impl Watch {
    pub(super) fn new(bounds: ExecutorBounds) -> Self {
        Self { bounds, state: Arc::default() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// A tool whose bodies are watched. Every tenth fails.
    pub(super) fn tool(&self, name: &str, kind: Kind, policy: ToolPolicy) -> impl Tool<()> + use<> {
        let watch = self.clone();
        let schema = json!({ "type": "object", "properties": { "ms": { "type": "integer" } } });
        let tool = DynTool::new(name, schema, policy, move |arguments, call| {
            let watch = watch.clone();
            async move {
                let _body = watch.begin(call.run_id, kind);
                let ms = arguments["ms"].as_u64().unwrap_or_default();
                tokio::time::sleep(Duration::from_millis(ms)).await;
                if ms % 10 == 9 { Err(ToolError::failed("unlucky")) } else { Ok("done") }
            }
        });
        tool.with_description("Is watched.")
    }

    fn begin(&self, run: RunId, kind: Kind) -> Body {
        let mut state = self.lock();
        state.bodies.push((run.clone(), kind));
        state.seen.bodies += 1;
        let bodies = state.bodies.len() as u32;
        state.seen.peak_bodies = state.seen.peak_bodies.max(bodies);
        state.check(&self.bounds);
        Body { watch: self.clone(), run, kind }
    }

    /// One call of `careful` goes on in a run of this depth, until what this gives is dropped.
    pub(super) fn careful(&self, depth: u32) -> Careful {
        let mut state = self.lock();
        state.careful[depth as usize] += 1;
        if state.careful[depth as usize] > 1 {
            state.broken.push(format!("two careful calls at depth {depth}"));
        }
        Careful { watch: self.clone(), depth }
    }

    /// Keeps the transcript of a nested run.
    pub(super) fn transcript(&self, messages: &[Message]) {
        self.lock().transcripts.push(messages.to_vec());
    }

    pub(super) fn listener(&self) -> impl Fn(&EventRecord) + Send + Sync + 'static {
        let watch = self.clone();
        move |record: &EventRecord| match record.event.kind() {
            "run.started" => {
                let mut state = watch.lock();
                let parent = record.parent_run_id.clone();
                let depth = parent.as_ref().map_or(0, |parent| state.depths[parent] + 1);
                state.depths.insert(record.run_id.clone(), depth);
                state.live.insert(record.run_id.clone(), parent);
                state.seen.runs += 1;
                let live = state.live_at(depth);
                state.seen.peak_runs[depth] = state.seen.peak_runs[depth].max(live);
                state.check(&watch.bounds);
            }
            "run.completed" | "run.failed" => {
                watch.lock().live.remove(&record.run_id);
            }
            _ => {}
        }
    }

    /// What was broken.
    pub(super) fn broken(&self) -> Vec<String> {
        self.lock().broken.clone()
    }

    /// Checks that nothing goes on any more and that nothing was broken.
    #[track_caller]
    pub(super) fn end(&self) -> Seen {
        let state = self.lock();
        assert_eq!(state.broken, Vec::<String>::new());
        assert!(state.bodies.is_empty() && state.live.is_empty(), "something goes on");
        state.transcripts.iter().for_each(|messages| assert_whole(messages));
        state.seen.clone()
    }
}

impl State {
    fn live_at(&self, depth: usize) -> u32 {
        self.live.keys().filter(|run| self.depths[*run] == depth).count() as u32
    }

    fn check(&mut self, bounds: &ExecutorBounds) {
        let mut broken = Vec::new();
        let mut most = |count: usize, most: u32, what: &str| {
            if count > most as usize {
                broken.push(format!("{count} {what} at once, of {most}"));
            }
        };
        let of = |kind| self.bodies.iter().filter(move |(_, other)| *other == kind);
        most(self.bodies.len(), bounds.max_bodies, "bodies");
        most(of(Kind::Change).count(), 1, "changes");
        most(of(Kind::Few).count(), 1, "calls of a tool that allows one");
        for depth in 1..4 {
            most(self.live_at(depth) as usize, bounds.max_runs_per_depth, "runs of one depth");
        }
        for run in self.depths.keys() {
            let bodies = self.bodies.iter().filter(|(of, _)| of == run);
            let nested = self.live.values().filter(|parent| parent.as_ref() == Some(run)).count();
            let calls = bodies.clone().count() + nested;
            let promoted = bodies.clone().filter(|(_, kind)| *kind == Kind::Promoted).count();
            most(calls, bounds.max_parallel, "calls of one run");
            most(promoted + nested, bounds.max_concurrent_mutations, "promoted or nested calls of one run");
            if bodies.clone().any(|(_, kind)| *kind == Kind::Change) {
                most(calls - 1, 0, "calls beside a change of their run");
            }
        }
        self.broken.append(&mut broken);
    }
}

/// A body that goes on.
struct Body {
    watch: Watch,
    run: RunId,
    kind: Kind,
}

impl Drop for Body {
    fn drop(&mut self) {
        let mut state = self.watch.lock();
        let at = state.bodies.iter().position(|(run, kind)| *run == self.run && *kind == self.kind);
        state.bodies.swap_remove(at.unwrap());
    }
}

/// A call of `careful` that goes on.
pub(super) struct Careful {
    watch: Watch,
    depth: u32,
}

impl Drop for Careful {
    fn drop(&mut self) {
        self.watch.lock().careful[self.depth as usize] -= 1;
    }
}
