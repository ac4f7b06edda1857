//! What a run may still use. A nested run draws on its own budget and on those of all runs around it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use tokio::time::Instant;

use crate::harness::context::{LimitKind, RunLimits};
use crate::harness::model::Usage;

/// What a run has left, and what it has used.
#[derive(Debug)]
pub(crate) struct Budget {
    pub(crate) deadline: Instant,
    model_calls: AtomicU32,
    tool_calls: AtomicU32,
    retries: AtomicU32,
    input_tokens: AtomicU64,
    output_tokens: AtomicU64,
    parent: Option<Arc<Budget>>,
}

impl Budget {
    pub(crate) fn new(limits: &RunLimits, deadline: Instant, parent: Option<Arc<Self>>) -> Arc<Self> {
        Arc::new(Self {
            deadline,
            model_calls: limits.max_model_calls.into(),
            tool_calls: limits.max_tool_calls.into(),
            retries: limits.max_retries.into(),
            input_tokens: 0.into(),
            output_tokens: 0.into(),
            parent,
        })
    }

    /// Takes one request to the model.
    pub(crate) fn take_model_call(&self) -> Result<(), LimitKind> {
        self.take(|budget| &budget.model_calls).then_some(()).ok_or(LimitKind::ModelCalls)
    }

    /// Takes one tool call, or one attempt.
    pub(crate) fn take_tool_call(&self) -> Result<(), LimitKind> {
        self.take(|budget| &budget.tool_calls).then_some(()).ok_or(LimitKind::ToolCalls)
    }

    /// Takes one attempt after the first, which is a tool call as well.
    pub(super) fn take_retry(&self) -> bool {
        if !self.take(|budget| &budget.retries) {
            return false;
        }
        let taken = self.take_tool_call().is_ok();
        if !taken {
            self.give_back(|budget| &budget.retries, None);
        }
        taken
    }

    /// Whether the run's time is over.
    pub(crate) fn is_over(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// Adds what a reply cost, to the runs around this one too.
    pub(crate) fn add_usage(&self, usage: Usage) {
        for budget in self.and_parents() {
            // A provider may send any number.
            let add = |total: &AtomicU64, more| {
                let _ = total.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |sum: u64| {
                    Some(sum.saturating_add(more))
                });
            };
            add(&budget.input_tokens, usage.input_tokens);
            add(&budget.output_tokens, usage.output_tokens);
        }
    }

    /// What the run and its nested runs cost so far.
    pub(crate) fn usage(&self) -> Usage {
        Usage {
            input_tokens: self.input_tokens.load(Ordering::Relaxed),
            output_tokens: self.output_tokens.load(Ordering::Relaxed),
        }
    }

    fn and_parents(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |budget| budget.parent.as_deref())
    }

    /// Takes one from this budget and from all around it, or from none.
    fn take(&self, pick: fn(&Self) -> &AtomicU32) -> bool {
        for budget in self.and_parents() {
            let left =
                pick(budget).fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
            if left.is_err() {
                self.give_back(pick, Some(budget));
                return false;
            }
        }
        true
    }

    /// Gives one back to this budget and to those around it, up to `end`.
    fn give_back(&self, pick: fn(&Self) -> &AtomicU32, end: Option<&Self>) {
        let taken = self.and_parents().take_while(|budget| end.is_none_or(|end| !std::ptr::eq(*budget, end)));
        taken.for_each(|budget| {
            pick(budget).fetch_add(1, Ordering::Relaxed);
        });
    }
}
