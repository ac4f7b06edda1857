//! Starting the calls of a turn: segment after segment, within a segment in call order, within bounds.
//!
//! Guarantee: a call is admitted only when every earlier call of its segment that is ready has been; a call that waits
//! in line, for a person or before another attempt holds nothing.

use std::collections::VecDeque;
use std::future::{Future, pending};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::time::Instant;

use super::Executor;
use super::body::once;
use super::ledger::OpenTurn;
use super::outcome::Outcome;
use super::permits::{Claim, Resource};
use super::plan::Admission;
use super::prepare::{Ready, limited};
use super::tree::{Acquire, Held};
use crate::harness::context::{FailurePolicy, LimitKind};
use crate::harness::event::{AgentEvent, FailureKind};
use crate::harness::message::ToolCall;

/// What became of a call that was worked on.
pub(super) enum Moved<S, C> {
    /// A person was asked: the call may run, or has its result.
    Asked(Option<Ready<S, C>>),
    /// The body of a call of this kind ended: the call has its result, or is to be made again after a while.
    Ran(Admission, Option<(Ready<S, C>, Duration)>),
    /// The while before another attempt is over.
    Rested(Ready<S, C>),
    /// The call got the result of its last attempt.
    Concluded,
}

type Work<'a, S, C> = Pin<Box<dyn Future<Output = Moved<S, C>> + Send + 'a>>;

/// What the dispatcher of a turn has in hand.
pub(super) struct Dispatch<'a, S: Send + Sync, C: Send + Sync> {
    executor: &'a Executor<S, C>,
    turn: &'a OpenTurn<'a>,
    /// Calls that are asked about, that run, or that wait for another attempt.
    work: FuturesUnordered<Work<'a, S, C>>,
    /// Calls that may start, in call order.
    line: VecDeque<Ready<S, C>>,
    /// Calls that a person must be asked about, in call order: one of them at a time.
    asks: VecDeque<Ready<S, C>>,
    asking: bool,
    /// The first of the line, while it waits for its permits.
    head: Option<(Ready<S, C>, Acquire)>,
    /// How many bodies run, and how many of them may change something or drive nested runs.
    running: u32,
    mutations: u32,
    /// When a turn that cannot go on stops those that got time to finish.
    last_call: Option<Instant>,
}

enum Event<S, C> {
    Moved(Moved<S, C>),
    Head(Result<Held, Resource>),
    /// The run was cancelled, or a time is over.
    Stop,
}

impl<'a, S: Send + Sync + 'static, C: Send + Sync + 'static> Dispatch<'a, S, C> {
    pub(super) fn new(executor: &'a Executor<S, C>, turn: &'a OpenTurn<'a>) -> Self {
        let (work, line, asks) = (FuturesUnordered::new(), VecDeque::new(), VecDeque::new());
        Self {
            executor,
            turn,
            work,
            line,
            asks,
            asking: false,
            head: None,
            running: 0,
            mutations: 0,
            last_call: None,
        }
    }

    /// Runs the calls of one segment until each has its result.
    pub(super) async fn segment(&mut self, number: usize, calls: impl Iterator<Item = Ready<S, C>>) {
        for ready in calls {
            let line = if ready.ask.is_some() { &mut self.asks } else { &mut self.line };
            line.push_back(ready);
        }
        if self.turn.events.is_heard() && !self.is_stopped() {
            let calls = self.line.len() + self.asks.len();
            self.turn.events.emit_with(|| AgentEvent::SegmentOpened { segment: number, calls });
        }
        loop {
            let stopped = self.is_stopped();
            if stopped {
                self.drain();
            }
            self.ask_next();
            self.admit_next();
            if self.work.is_empty() && self.head.is_none() {
                return;
            }
            match self.next(stopped).await {
                Event::Moved(moved) => self.moved(moved),
                Event::Head(Ok(held)) => self.start(held).await,
                Event::Head(Err(resource)) => self.refuse(&resource),
                Event::Stop => {}
            }
        }
    }

    /// Whether nothing more may start.
    fn is_stopped(&self) -> bool {
        self.turn.is_draining() || self.turn.stop.is_cancelled() || self.executor.budget.is_over()
    }

    /// What happens next; what is done comes before what may start.
    async fn next(&mut self, stopped: bool) -> Event<S, C> {
        let Self { executor, turn, work, head, last_call, .. } = self;
        let idle = work.is_empty();
        if let (true, Some((_, acquire))) = (idle, head.as_mut()) {
            // Permits that are free need no timer.
            if let Poll::Ready(held) = once(acquire).await {
                return Event::Head(held);
            }
        }
        let permits = async {
            match head {
                Some((_, acquire)) => acquire.await,
                None => pending().await,
            }
        };
        let wake = match stopped {
            true => last_call.filter(|_| !turn.stop.is_cancelled()),
            false => Some(executor.budget.deadline),
        };
        tokio::select! {
            biased;
            Some(moved) = work.next(), if !idle => Event::Moved(moved),
            held = permits => Event::Head(held),
            () = turn.stop.cancelled(), if !stopped => Event::Stop,
            () = tokio::time::sleep_until(wake.unwrap_or(executor.budget.deadline)), if wake.is_some() => Event::Stop,
        }
    }

    fn moved(&mut self, moved: Moved<S, C>) {
        match moved {
            Moved::Asked(ready) => {
                self.asking = false;
                ready.into_iter().for_each(|ready| self.stand(ready));
            }
            Moved::Ran(kind, again) => {
                self.running -= 1;
                self.mutations -= u32::from(kind != Admission::Read);
                if let Some((ready, wait)) = again {
                    let turn = self.turn;
                    self.work.push(Box::pin(async move {
                        tokio::select! {
                            () = tokio::time::sleep(wait) => {}
                            () = turn.drain.cancelled() => {}
                        }
                        Moved::Rested(ready)
                    }));
                }
            }
            Moved::Rested(ready) => self.stand(ready),
            Moved::Concluded => {}
        }
    }

    /// Puts a call into the line, at its place.
    fn stand(&mut self, ready: Ready<S, C>) {
        let place = self.line.partition_point(|other| other.index < ready.index);
        self.line.insert(place, ready);
    }

    fn ask_next(&mut self) {
        while !self.asking {
            // Nobody is asked about a call that would be skipped whatever the answer.
            let Some(ready) = self.asks.pop_front() else { return };
            let Some(ready) = self.unless_skipped(ready) else { continue };
            self.asking = true;
            let (executor, turn) = (self.executor, self.turn);
            self.work.push(Box::pin(async move { Moved::Asked(executor.ask(turn, ready).await) }));
        }
    }

    /// Lets the first of the line wait for its permits, if the run's own bounds have room for it.
    fn admit_next(&mut self) {
        while self.head.is_none() {
            let bounds = &self.executor.tree.bounds;
            let Some(next) = self.line.front() else { return };
            let changes = next.kind != Admission::Read;
            if self.running >= bounds.max_parallel
                || (changes && self.mutations >= bounds.max_concurrent_mutations)
            {
                return;
            }
            let Some(ready) = self.line.pop_front() else { return };
            let Some(ready) = self.unless_skipped(ready) else { continue };
            let tool = &ready.tool;
            let limit = tool.policy.runtime.max_concurrency;
            let claim = Claim::of(ready.kind, self.executor.depth(), &tool.spec.name, limit, bounds);
            self.head = Some((ready, self.executor.tree.acquire(claim)));
        }
    }

    /// Gives a call back, unless the failure of an earlier one keeps it from starting; then it is answered.
    fn unless_skipped(&mut self, ready: Ready<S, C>) -> Option<Ready<S, C>> {
        let Some(failed) = self.failed_before(&ready) else { return Some(ready) };
        let id = self.turn.call(failed).map(|call| call.id.to_string()).unwrap_or_default();
        let why = format!("not executed: an earlier change of this turn, `{id}`, failed");
        self.give_up(ready, |call| Outcome::refused(call, FailureKind::Skipped, why));
        None
    }

    /// The earlier call whose failure keeps this one from starting.
    fn failed_before(&self, ready: &Ready<S, C>) -> Option<usize> {
        let changes = matches!(ready.kind, Admission::Mutate | Admission::Overlap);
        let skips = self.executor.policy.failure == FailurePolicy::SkipLaterMutations;
        if changes && skips { self.turn.failed_mutation_before(ready.index) } else { None }
    }

    /// Starts the body of the head, in place.
    async fn start(&mut self, held: Held) {
        let Some((ready, _)) = self.head.take() else { return };
        self.running += 1;
        self.mutations += u32::from(ready.kind != Admission::Read);
        let (executor, turn, kind) = (self.executor, self.turn, ready.kind);
        let mut work: Work<'a, S, C> =
            Box::pin(async move { Moved::Ran(kind, executor.run_attempt(turn, ready, held).await) });
        match once(&mut work).await {
            Poll::Ready(moved) => self.moved(moved),
            Poll::Pending => self.work.push(work),
        }
    }

    fn refuse(&mut self, resource: &Resource) {
        let Some((ready, _)) = self.head.take() else { return };
        let (kind, why) = match resource {
            Resource::Writer => (
                FailureKind::WriterBusy,
                "not executed: a call that may change something was given up on and still runs; nothing else can \
                 change anything before it ends",
            ),
            _ => (
                FailureKind::NoCapacity,
                "not executed: calls that were given up on and still run have taken all room for it",
            ),
        };
        self.give_up(ready, |call| Outcome::refused(call, kind, why.into()));
    }

    /// Answers everything that has not started, and tells what runs to end: what only reads at once, the rest after a
    /// grace, since a change half done is worse than a late one.
    fn drain(&mut self) {
        self.turn.drain.cancel();
        let now = Instant::now();
        let grace = self.executor.policy.grace;
        let last_call = *self.last_call.get_or_insert_with(|| now.checked_add(grace).unwrap_or(now));
        if now >= last_call {
            self.turn.stop.cancel();
        }
        let head = self.head.take().map(|(ready, _)| ready);
        let open: Vec<_> = head.into_iter().chain(self.line.drain(..)).chain(self.asks.drain(..)).collect();
        for ready in open {
            let executor = self.executor;
            let over = executor.budget.is_over() && !executor.is_cancelled();
            self.give_up(ready, |call| match over {
                true => limited(call, LimitKind::Duration),
                false => executor.stopped_before_start(call),
            });
        }
    }

    /// Answers a call that cannot start: with how its last attempt ended, if there was one.
    fn give_up(&mut self, mut ready: Ready<S, C>, refused: impl FnOnce(&ToolCall) -> Outcome) {
        let (executor, turn) = (self.executor, self.turn);
        match ready.last.take() {
            Some(end) => self.work.push(Box::pin(async move {
                executor.conclude(turn, &ready, end).await;
                Moved::Concluded
            })),
            None => {
                let outcome = refused(&ready.call);
                executor.settle_refused(turn, ready.index, outcome);
            }
        }
    }
}
