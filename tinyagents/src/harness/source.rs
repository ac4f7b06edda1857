//! Where times and fresh ids come from, so that a test can make a run repeat byte for byte.

use std::time::{Duration, SystemTime};

use super::id::{RunId, ToolCallId};

/// Tells the time. [`SystemClock`] by default.
pub trait Clock: Send + Sync {
    /// The time of day, for events.
    fn now(&self) -> SystemTime;

    /// The time since some fixed point, for measuring how long a call took.
    fn elapsed(&self) -> Duration;
}

/// The machine's clock. Durations follow tokio's clock, so a paused test clock is seen.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock {
    start: tokio::time::Instant,
}

impl Default for SystemClock {
    fn default() -> Self {
        Self { start: tokio::time::Instant::now() }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }
}

/// Makes fresh ids. [`RandomIds`] by default.
pub trait IdSource: Send + Sync {
    /// A new run's id; it must not come twice.
    fn run_id(&self) -> RunId;

    /// The id of a call that came without one: the same for the same turn and index, so that a replay agrees.
    fn call_id(&self, turn: u32, index: u32) -> ToolCallId {
        format!("call_{turn}_{index}").into()
    }
}

/// Random run ids of 128 bits.
#[derive(Debug, Clone, Copy, Default)]
pub struct RandomIds;

impl IdSource for RandomIds {
    fn run_id(&self) -> RunId {
        format!("run_{:032x}", fastrand::u128(..)).into()
    }
}
