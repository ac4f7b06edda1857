//! When a call is made again.

use std::time::Duration;

use tokio::time::Instant;

use super::body::BodyEnd;
use super::budget::Budget;
use super::prepare::Ready;
use crate::TinyAgentsError;

/// The wait before the second attempt; it doubles with each, up to [`LONGEST`].
const FIRST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(10);

/// How long to wait before the next attempt, if there is to be one, and the error that led to it. The attempt then has
/// been taken from the budget.
///
/// A call is made again only if all of this holds: it only reads or is idempotent; it ended by itself with an error
/// that says of itself that it may pass; its tool allows another attempt; the wait fits the run's time; the run's
/// budget has an attempt left.
pub(super) fn wait<S, C>(ready: &Ready<S, C>, end: &BodyEnd, budget: &Budget) -> Option<(Duration, String)> {
    let BodyEnd::Returned(Err(TinyAgentsError::Tool(error))) = end else { return None };
    let runtime = &ready.tool.policy.runtime;
    let repeatable = runtime.idempotent || ready.kind.only_reads();
    if !repeatable || !error.is_transient() || ready.attempts > runtime.max_retries {
        return None;
    }
    let longest = FIRST.saturating_mul(1 << (ready.attempts - 1).min(16)).min(LONGEST);
    // Calls that failed together must not come back together.
    let wait = longest.mul_f64(0.5 + fastrand::f64() / 2.0);
    let fits = Instant::now().checked_add(wait).is_some_and(|at| at < budget.deadline);
    (fits && budget.take_retry()).then(|| (wait, error.to_string()))
}
