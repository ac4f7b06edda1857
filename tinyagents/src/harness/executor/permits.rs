//! What bounds the calls of a tree of runs: permits, acquired in rank order.
//!
//! Guarantee: whoever waits for a permit holds only permits of lower ranks, so nobody waits in a circle; a permit goes
//! to those who wait for it in the order in which they came. A pure state machine, without time or tasks: the runtime
//! and the model check use this one.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::plan::Admission;
use crate::harness::id::ToolName;

/// How much may run at once. None may be zero.
///
/// The last three hold for a whole tree: a run and all runs that its tools start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExecutorBounds {
    /// Calls of one run side by side; 8 by default, and 1 runs them one after another.
    pub max_parallel: u32,
    /// Calls of one run side by side that may change something or drive nested runs; 4 by default.
    pub max_concurrent_mutations: u32,
    /// Bodies in the tree that drive no nested run; 16 by default.
    pub max_bodies: u32,
    /// Live runs of each depth in the tree; 4 by default.
    pub max_runs_per_depth: u32,
    /// Requests to models in the tree; 16 by default. None is held while tools work.
    pub max_model_requests: u32,
}

impl Default for ExecutorBounds {
    fn default() -> Self {
        Self {
            max_parallel: 8,
            max_concurrent_mutations: 4,
            max_bodies: 16,
            max_runs_per_depth: 4,
            max_model_requests: 16,
        }
    }
}

/// A bound of zero: nothing could ever run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the bound `{0}` is zero, so nothing could run; give it at least 1")]
pub struct ZeroBound(pub &'static str);

impl ExecutorBounds {
    /// Checks that something can run.
    ///
    /// # Errors
    ///
    /// Names a bound that is zero.
    pub fn check(&self) -> Result<(), ZeroBound> {
        let all = [
            ("max_parallel", self.max_parallel),
            ("max_concurrent_mutations", self.max_concurrent_mutations),
            ("max_bodies", self.max_bodies),
            ("max_runs_per_depth", self.max_runs_per_depth),
            ("max_model_requests", self.max_model_requests),
        ];
        match all.into_iter().find(|(_, bound)| *bound == 0) {
            Some((name, _)) => Err(ZeroBound(name)),
            None => Ok(()),
        }
    }
}

/// Something that only so many calls of a tree may have at once.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Resource {
    /// A call of this recursive tool that starts runs of this depth.
    NestedTool {
        /// The depth of the runs that it starts.
        depth: u32,
        /// The tool.
        tool: ToolName,
    },
    /// A live run of this depth: one pool for each depth, shared by the whole tree.
    Run {
        /// 1 for a run that a call of the outermost run starts.
        depth: u32,
    },
    /// A call of this tool, which drives no nested run.
    Tool {
        /// The tool.
        tool: ToolName,
    },
    /// The right to change something: one in the tree.
    Writer,
    /// A body that drives no nested run.
    Body,
    /// A request to a model.
    ModelRequest,
}

impl Resource {
    /// Resources are acquired in rising rank.
    pub fn rank(&self) -> u64 {
        match self {
            Self::NestedTool { depth, .. } => 2 * u64::from(*depth),
            Self::Run { depth } => 2 * u64::from(*depth) + 1,
            Self::Tool { .. } => u64::MAX - 3,
            Self::Writer => u64::MAX - 2,
            Self::Body => u64::MAX - 1,
            Self::ModelRequest => u64::MAX,
        }
    }
}

/// What a call needs at once, in the order in which it is acquired.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Claim([Option<(Resource, u32)>; 3]);

impl Claim {
    /// What a call needs: `depth` is that of its run, `limit` the tool's own bound, if it has one.
    pub fn of(
        kind: Admission,
        depth: u32,
        tool: &ToolName,
        limit: Option<u32>,
        bounds: &ExecutorBounds,
    ) -> Self {
        let body = Some((Resource::Body, bounds.max_bodies));
        let own = |resource: fn(ToolName) -> Resource| limit.map(|limit| (resource(tool.clone()), limit));
        match kind {
            Admission::Instant => Self::default(),
            Admission::Nested | Admission::NestedRead => {
                let depth = depth + 1;
                let tool = limit.map(|limit| (Resource::NestedTool { depth, tool: tool.clone() }, limit));
                Self([tool, Some((Resource::Run { depth }, bounds.max_runs_per_depth)), None])
            }
            Admission::Mutate => {
                Self([own(|tool| Resource::Tool { tool }), Some((Resource::Writer, 1)), body])
            }
            Admission::Read | Admission::Overlap => Self([own(|tool| Resource::Tool { tool }), body, None]),
        }
    }

    /// One request to a model.
    pub fn model_request(bounds: &ExecutorBounds) -> Self {
        Self([Some((Resource::ModelRequest, bounds.max_model_requests)), None, None])
    }

    /// Any resources with their bounds, in any order: a model check tries wrong ones.
    pub fn from_parts(parts: [Option<(Resource, u32)>; 3]) -> Self {
        Self(parts)
    }

    /// The resources with their bounds, in the order in which they are acquired.
    pub fn parts(&self) -> impl Iterator<Item = &(Resource, u32)> {
        self.0.iter().flatten()
    }

    fn part(&self, number: usize) -> Option<&(Resource, u32)> {
        self.parts().nth(number)
    }
}

/// Where a claim stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Standing {
    /// It has everything.
    Granted,
    /// It waits, and holds what ranks below.
    Waiting,
    /// It can never have everything: it would wait for threads that cannot be stopped. It holds nothing any more.
    Refused(Resource),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Pool {
    resource: Resource,
    cap: u32,
    held: u32,
    /// Of those held, the ones whose holder was given up on.
    abandoned: u32,
    waiting: VecDeque<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Holder {
    claim: Claim,
    held: usize,
    abandoned: bool,
}

impl Holder {
    fn holding(&self) -> impl Iterator<Item = &Resource> {
        self.claim.parts().take(self.held).map(|(resource, _)| resource)
    }

    fn awaited(&self) -> Option<&(Resource, u32)> {
        self.claim.part(self.held)
    }
}

/// The permits of a tree of runs.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Permits {
    pools: Vec<Pool>,
    /// By ticket, so that equal permits have equal hashes, however they came about.
    holders: BTreeMap<u64, Holder>,
}

impl Permits {
    /// Asks for everything in a claim. `ticket` stands for the asker, and must be its own; one that is refused holds
    /// nothing, and one that has asked already gets nothing more. `told` hears of others whose standing this changes.
    pub fn ask(&mut self, ticket: u64, claim: Claim, told: &mut dyn FnMut(u64, Standing)) -> Standing {
        if let Some(holder) = self.holders.get(&ticket) {
            return holder.awaited().map_or(Standing::Granted, |_| Standing::Waiting);
        }
        self.holders.insert(ticket, Holder { claim, held: 0, abandoned: false });
        let standing = self.climb(ticket);
        if let Standing::Refused(_) = standing {
            self.release(ticket, told);
        }
        standing
    }

    /// Takes back a claim, wherever it stands. `told` hears of those whose standing this changes.
    pub fn release(&mut self, ticket: u64, told: &mut dyn FnMut(u64, Standing)) {
        self.forget(ticket);
        self.hand_over(told);
    }

    /// Gives up on a holder: its permits stay with it until they are released, and who would have to wait for nothing
    /// but such holders is refused. One that still waits has not started, so its claim is taken back instead.
    pub fn abandon(&mut self, ticket: u64, told: &mut dyn FnMut(u64, Standing)) {
        let Some(holder) = self.holders.get_mut(&ticket) else { return };
        if holder.awaited().is_some() {
            return self.release(ticket, told);
        }
        if std::mem::replace(&mut holder.abandoned, true) {
            return;
        }
        for resource in holder.holding() {
            if let Some(pool) = self.pools.iter_mut().find(|pool| pool.resource == *resource) {
                pool.abandoned += 1;
            }
        }
        self.hand_over(told);
    }

    /// How many of a resource are held.
    pub fn held(&self, resource: &Resource) -> u32 {
        self.pools.iter().find(|pool| pool.resource == *resource).map_or(0, |pool| pool.held)
    }

    /// What a claim holds, in the order in which it was acquired.
    pub fn holding(&self, ticket: u64) -> impl Iterator<Item = &Resource> {
        self.holders.get(&ticket).into_iter().flat_map(Holder::holding)
    }

    /// What a claim waits for, if it waits.
    pub fn awaited(&self, ticket: u64) -> Option<&Resource> {
        self.holders.get(&ticket)?.awaited().map(|(resource, _)| resource)
    }

    /// Whether nobody holds or waits for anything.
    pub fn is_idle(&self) -> bool {
        self.holders.is_empty() && self.pools.iter().all(|pool| pool.held == 0 && pool.waiting.is_empty())
    }

    /// Frees what a holder has, and takes it out of the line where it waits.
    fn forget(&mut self, ticket: u64) {
        let Some(holder) = self.holders.remove(&ticket) else { return };
        for (number, (resource, _)) in holder.claim.parts().enumerate() {
            let Some(pool) = self.pools.iter_mut().find(|pool| pool.resource == *resource) else { break };
            if number < holder.held {
                pool.held -= 1;
                pool.abandoned -= u32::from(holder.abandoned);
            } else {
                pool.waiting.retain(|waiting| *waiting != ticket);
            }
        }
    }

    fn pool(&mut self, resource: &Resource, cap: u32) -> &mut Pool {
        let at = self.pools.iter().position(|pool| pool.resource == *resource).unwrap_or_else(|| {
            let waiting = VecDeque::new();
            self.pools.push(Pool { resource: resource.clone(), cap, held: 0, abandoned: 0, waiting });
            self.pools.len() - 1
        });
        #[expect(clippy::indexing_slicing, reason = "the position was found or made just now")]
        &mut self.pools[at]
    }

    /// Acquires what can be had, up to the first resource that cannot.
    fn climb(&mut self, ticket: u64) -> Standing {
        loop {
            let Some((resource, cap)) = self.holders.get(&ticket).and_then(Holder::awaited).cloned() else {
                return Standing::Granted;
            };
            let pool = self.pool(&resource, cap);
            if pool.is_lost() {
                return Standing::Refused(resource);
            }
            if pool.held >= pool.cap || !pool.waiting.is_empty() {
                pool.waiting.push_back(ticket);
                return Standing::Waiting;
            }
            pool.held += 1;
            self.advance(ticket);
        }
    }

    fn advance(&mut self, ticket: u64) {
        if let Some(holder) = self.holders.get_mut(&ticket) {
            holder.held += 1;
        }
    }

    /// Gives what is free to those who wait for it, and refuses those who wait in vain.
    fn hand_over(&mut self, told: &mut dyn FnMut(u64, Standing)) {
        let moves = |pool: &&mut Pool| !pool.waiting.is_empty() && (pool.held < pool.cap || pool.is_lost());
        while let Some(pool) = self.pools.iter_mut().find(moves) {
            let Some(ticket) = pool.waiting.pop_front() else { return };
            let standing = if pool.is_lost() {
                Standing::Refused(pool.resource.clone())
            } else {
                pool.held += 1;
                self.advance(ticket);
                self.climb(ticket)
            };
            if let Standing::Refused(_) = standing {
                self.forget(ticket);
            }
            if standing != Standing::Waiting {
                told(ticket, standing);
            }
        }
    }
}

impl Pool {
    /// Whether nothing will come back by itself.
    fn is_lost(&self) -> bool {
        self.abandoned >= self.cap
    }
}
