//! Small trees of runs, and how the executor would be told to run them: as it does, or broken in one way.

use std::ops::Range;

use tinyagents::harness::executor::{Admission, Claim, ExecutorBounds, Resource, plan};
use tinyagents::harness::id::ToolName;

/// A call as a configuration writes it. A nested one has the turns of its run.
#[derive(Debug, Clone)]
pub(super) struct Spec {
    pub(super) kind: Admission,
    pub(super) asks: bool,
    pub(super) turns: Turns,
}

pub(super) type Turns = Vec<Vec<Spec>>;

pub(super) fn call(kind: Admission) -> Spec {
    Spec { kind, asks: false, turns: Vec::new() }
}

pub(super) fn nested(turns: Turns) -> Spec {
    Spec { turns, ..call(Admission::Nested) }
}

impl Spec {
    /// A human is asked before it runs.
    pub(super) fn asking(self) -> Self {
        Self { asks: true, ..self }
    }
}

/// What the executor does: as it is, or wrong in one way that the check must see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Variant {
    Proposal,
    /// Live runs of all depths share one pool.
    OnePool,
    /// A nested tool's own limit counts its calls of all depths together.
    ToolLimitForTheTree,
    /// Nested calls take the writer permit.
    NestedTakesWriter,
    /// A call asks the human when it has its permits already.
    AsksWhileHolding,
    /// A turn is one segment: only permits order its calls.
    NoBarrier,
    /// Each run has a pool of its own for the runs that it starts.
    PoolPerParent,
    /// The mutating calls of every second run take the writer permit last.
    Reversed,
}

/// Everything that a check depends on.
#[derive(Debug, Clone)]
pub(super) struct Setup {
    pub(super) turns: Turns,
    pub(super) variant: Variant,
    pub(super) bounds: ExecutorBounds,
    /// Each tool's own limit: one tool for each kind.
    pub(super) limit: Option<u32>,
    /// Bodies may be threads that are given up on, and that may never end.
    pub(super) abandons: bool,
    /// Any run may be cancelled, and not only the root.
    pub(super) cancels_any: bool,
}

impl Setup {
    /// With `runs` live runs at each depth and `bodies` bodies in the tree.
    pub(super) fn new(turns: Turns, variant: Variant, runs: u32, bodies: u32) -> Self {
        let bounds =
            ExecutorBounds { max_runs_per_depth: runs, max_bodies: bodies, ..ExecutorBounds::default() };
        bounds.check().unwrap();
        Self { turns, variant, bounds, limit: None, abandons: false, cancels_any: false }
    }
}

#[derive(Debug)]
pub(super) struct Call {
    pub(super) kind: Admission,
    pub(super) asks: bool,
    pub(super) claim: Claim,
    pub(super) run: usize,
    pub(super) child: Option<usize>,
    /// The segment that it is in.
    pub(super) segment: Range<usize>,
    /// Calls of its turn that must be settled before it begins, by the definition and not by `plan`.
    pub(super) after: Vec<usize>,
}

#[derive(Debug)]
pub(super) struct Run {
    /// The call that it is the body of.
    pub(super) caller: Option<usize>,
    pub(super) turns: Vec<Turn>,
}

#[derive(Debug, Clone)]
pub(super) struct Turn {
    pub(super) calls: Range<usize>,
    pub(super) segments: Vec<Range<usize>>,
}

/// A tree of runs, laid out: calls and runs by number, the calls of a turn next to each other.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) calls: Vec<Call>,
    pub(super) runs: Vec<Run>,
    /// Everything that some call claims, with its cap.
    pub(super) resources: Vec<(Resource, u32)>,
}

impl Tree {
    pub(super) fn new(setup: &Setup) -> Self {
        let mut tree = Self { calls: Vec::new(), runs: Vec::new(), resources: Vec::new() };
        tree.add(setup, &setup.turns, 0, None);
        for call in &tree.calls {
            for part in call.claim.parts() {
                if !tree.resources.contains(part) {
                    tree.resources.push(part.clone());
                }
            }
        }
        tree.resources.sort_by_key(|(resource, _)| resource.rank());
        tree
    }

    /// The call that a run is the body of.
    pub(super) fn caller(&self, run: usize) -> Option<usize> {
        self.runs[run].caller
    }

    /// Whether a run is another or was started, however indirectly, by a call of it.
    pub(super) fn is_below(&self, run: usize, root: usize) -> bool {
        let parent = |run: &usize| self.caller(*run).map(|caller| self.calls[caller].run);
        std::iter::successors(Some(run), parent).any(|above| above == root)
    }

    fn add(&mut self, setup: &Setup, turns: &Turns, depth: u32, caller: Option<usize>) -> usize {
        let run = self.runs.len();
        self.runs.push(Run { caller, turns: Vec::new() });
        for turn in turns {
            let laid_out = self.add_turn(setup, turn, depth, run);
            self.runs[run].turns.push(laid_out);
        }
        for (number, turn) in turns.iter().enumerate() {
            let first = self.runs[run].turns[number].calls.start;
            for (index, spec) in turn.iter().enumerate() {
                if spec.kind.is_nested() {
                    let child = self.add(setup, &spec.turns, depth + 1, Some(first + index));
                    self.calls[first + index].child = Some(child);
                }
            }
        }
        run
    }

    fn add_turn(&mut self, setup: &Setup, turn: &[Spec], depth: u32, run: usize) -> Turn {
        let first = self.calls.len();
        let calls = first..first + turn.len();
        let kinds: Vec<_> = turn.iter().map(|spec| spec.kind).collect();
        let segments: Vec<_> = match setup.variant {
            Variant::NoBarrier => vec![calls.clone()],
            _ => plan(&kinds).into_iter().map(|part| first + part.start..first + part.end).collect(),
        };
        for (index, spec) in turn.iter().enumerate() {
            let here = |segment: &&Range<usize>| segment.contains(&(first + index));
            self.calls.push(Call {
                kind: spec.kind,
                asks: spec.asks,
                claim: claim(setup, spec.kind, depth, run),
                run,
                child: None,
                segment: segments.iter().find(here).cloned().unwrap_or_default(),
                after: (0..index)
                    .filter(|earlier| are_apart(&kinds[*earlier..=index]))
                    .map(|earlier| first + earlier)
                    .collect(),
            });
        }
        Turn { calls, segments }
    }
}

/// Whether the first and the last of these calls must not run side by side: between reading and writing is a
/// boundary, and one on both sides of a mutating call.
fn are_apart(kinds: &[Admission]) -> bool {
    let group = |kind: &Admission| match kind {
        Admission::NestedRead => Admission::Read,
        kind => *kind,
    };
    let (first, last) = (group(&kinds[0]), group(&kinds[kinds.len() - 1]));
    let another = |kind: &Admission| {
        let kind = group(kind);
        kind != Admission::Instant && (kind == Admission::Mutate || kind != first)
    };
    first != Admission::Instant && last != Admission::Instant && kinds.iter().any(another)
}

/// What a call claims; runs are numbered from the root down, so a number may stand for a depth.
fn claim(setup: &Setup, kind: Admission, depth: u32, run: usize) -> Claim {
    let tool = ToolName::new(format!("{kind:?}").to_lowercase()).unwrap();
    let Setup { bounds, limit, variant, .. } = setup;
    let right = Claim::of(kind, depth, &tool, *limit, bounds);
    let pool = |depth| Some((Resource::Run { depth }, bounds.max_runs_per_depth));
    let number = u32::try_from(run).unwrap();
    match variant {
        Variant::OnePool if kind.is_nested() => Claim::from_parts([pool(1), None, None]),
        Variant::PoolPerParent if kind.is_nested() => Claim::from_parts([pool(number + 1), None, None]),
        Variant::ToolLimitForTheTree if kind.is_nested() => {
            let own = limit.map(|limit| (Resource::NestedTool { depth: 1, tool }, limit));
            Claim::from_parts([own, pool(depth + 1), None])
        }
        Variant::NestedTakesWriter if kind.is_nested() => {
            Claim::from_parts([Some((Resource::Writer, 1)), None, None])
        }
        Variant::Reversed if kind == Admission::Mutate && run % 2 == 0 => {
            let mut parts: Vec<_> = right.parts().cloned().map(Some).collect();
            parts.reverse();
            parts.resize(3, None);
            Claim::from_parts(parts.try_into().unwrap())
        }
        _ => right,
    }
}
