//! The permits of a tree of runs, as its tasks wait for them.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use super::permits::{Claim, ExecutorBounds, Permits, Resource, Standing};

/// What a run and all runs that its tools start share.
pub(crate) struct Tree {
    pub(crate) bounds: ExecutorBounds,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    permits: Permits,
    tickets: u64,
    waiting: Vec<(u64, Waiter)>,
}

enum Waiter {
    Waits(Waker),
    Told(Standing),
}

impl Tree {
    pub(crate) fn new(bounds: ExecutorBounds) -> Arc<Self> {
        Arc::new(Self { bounds, state: Mutex::default() })
    }

    /// Waits for everything in a claim, behind those who came before. Giving up the wait leaves the line.
    pub(crate) fn acquire(self: &Arc<Self>, claim: Claim) -> Acquire {
        Acquire { tree: Arc::clone(self), claim: Some(claim), ticket: None }
    }

    /// Gives up on who holds a ticket: its permits come back when the holder ends, if ever.
    pub(super) fn abandon(&self, ticket: u64) {
        self.change(|state, told| state.permits.abandon(ticket, told));
    }

    /// Asks for a claim. A waker is kept for who has to wait: in the same lock, or the answer could come before it.
    fn ask(&self, claim: Claim, waker: &Waker) -> (u64, Standing) {
        self.change(|state, told| {
            state.tickets += 1;
            let ticket = state.tickets;
            let standing = state.permits.ask(ticket, claim, told);
            if standing == Standing::Waiting {
                state.waiting.push((ticket, Waiter::Waits(waker.clone())));
            }
            (ticket, standing)
        })
    }

    /// Changes the state and wakes those whom it concerns.
    fn change<R>(&self, change: impl FnOnce(&mut State, &mut dyn FnMut(u64, Standing)) -> R) -> R {
        let mut news = Vec::new();
        let mut guard = self.lock();
        let result = change(&mut guard, &mut |ticket, standing| news.push((ticket, standing)));
        let mut wakers = Vec::new();
        for (ticket, standing) in news {
            if let Some((_, waiter)) = guard.waiting.iter_mut().find(|(waits, _)| *waits == ticket) {
                if let Waiter::Waits(waker) = std::mem::replace(waiter, Waiter::Told(standing)) {
                    wakers.push(waker);
                }
            }
        }
        drop(guard);
        wakers.into_iter().for_each(Waker::wake);
        result
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it holds the lock; a poisoned one still guards whole values.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits for a claim.
pub(crate) struct Acquire {
    tree: Arc<Tree>,
    claim: Option<Claim>,
    ticket: Option<u64>,
}

impl Acquire {
    fn settled(&mut self, ticket: u64, standing: Standing) -> Poll<Result<Held, Resource>> {
        match standing {
            Standing::Waiting => return Poll::Pending,
            Standing::Granted => {}
            Standing::Refused(resource) => {
                self.ticket = None;
                return Poll::Ready(Err(resource));
            }
        }
        self.ticket = None;
        Poll::Ready(Ok(Held { tree: Arc::clone(&self.tree), ticket, lent: None }))
    }
}

impl Future for Acquire {
    type Output = Result<Held, Resource>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if let Some(claim) = this.claim.take() {
            let (ticket, standing) = this.tree.ask(claim, cx.waker());
            this.ticket = Some(ticket);
            return this.settled(ticket, standing);
        }
        let Some(ticket) = this.ticket else { return Poll::Pending };
        let standing = {
            let mut state = this.tree.lock();
            let Some(at) = state.waiting.iter().position(|(waits, _)| *waits == ticket) else {
                return Poll::Pending;
            };
            match state.waiting.swap_remove(at) {
                (_, Waiter::Told(standing)) => standing,
                (_, Waiter::Waits(_)) => {
                    state.waiting.push((ticket, Waiter::Waits(cx.waker().clone())));
                    return Poll::Pending;
                }
            }
        };
        this.settled(ticket, standing)
    }
}

impl Drop for Acquire {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            self.tree.change(|state, told| {
                state.waiting.retain(|(waits, _)| *waits != ticket);
                state.permits.release(ticket, told);
            });
        }
    }
}

/// Permits that are held; they go back when this is dropped, and all that borrow them have been.
pub(crate) struct Held {
    tree: Arc<Tree>,
    pub(super) ticket: u64,
    lent: Option<Arc<Held>>,
}

impl Held {
    /// Lets others keep the permits for longer. Who comes when this was dropped gets nothing any more.
    pub(super) fn lend(self) -> (Self, Weak<Self>) {
        let (tree, ticket) = (Arc::clone(&self.tree), self.ticket);
        let lent = Arc::new(self);
        let borrows = Arc::downgrade(&lent);
        (Self { tree, ticket, lent: Some(lent) }, borrows)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.lent.is_none() {
            self.tree.change(|state, told| state.permits.release(self.ticket, told));
        }
    }
}
