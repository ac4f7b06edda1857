//! Where a fault strikes, and what it does there.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tinyagents::harness::context::RunHandle;

/// How long every foreign piece of code takes: the clock moves by as much between two polls.
pub const STEP: Duration = Duration::from_millis(5);

/// Code that is not the library's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    BeforeModel,
    Model,
    AfterModel,
    BeforeTool,
    Effect,
    GrantKeys,
    Approver,
    /// The body's first poll.
    Body,
    /// A later poll of the body.
    BodyLater,
    OnToolError,
    AfterTool,
    Store,
    Listener,
    /// A change of the run's data, when the turn closes.
    Update,
    /// Any of them.
    Any,
}

impl Step {
    pub const ALL: [Self; 15] = [
        Self::BeforeModel,
        Self::Model,
        Self::AfterModel,
        Self::BeforeTool,
        Self::Effect,
        Self::GrantKeys,
        Self::Approver,
        Self::Body,
        Self::BodyLater,
        Self::OnToolError,
        Self::AfterTool,
        Self::Store,
        Self::Listener,
        Self::Update,
        Self::Any,
    ];
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    Panic,
    Hang,
    Error,
    /// The run is cancelled through its handle.
    Cancel,
}

impl Fault {
    pub const ALL: [Self; 4] = [Self::Panic, Self::Hang, Self::Error, Self::Cancel];
}

/// A fault at the n-th time that a step is reached.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    pub step: Step,
    pub fault: Fault,
    pub nth: u32,
    /// Whether it strikes every later time as well.
    pub again: bool,
}

/// Strikes as planned.
#[derive(Clone, Default)]
pub struct Striker {
    plan: Option<Plan>,
    reached: Arc<AtomicU32>,
    struck: Arc<AtomicU32>,
    run: Arc<OnceLock<RunHandle>>,
}

impl Striker {
    pub fn new(plan: Option<Plan>) -> Self {
        Self { plan, ..Self::default() }
    }

    /// Says which run a cancel is for.
    pub fn aim(&self, run: RunHandle) {
        let _ = self.run.set(run);
    }

    pub fn struck(&self) -> u32 {
        self.struck.load(SeqCst)
    }

    fn due(&self, step: Step) -> Option<Fault> {
        let plan = self.plan.filter(|plan| plan.step == step || plan.step == Step::Any)?;
        let number = self.reached.fetch_add(1, SeqCst);
        (number == plan.nth || (plan.again && number > plan.nth)).then_some(plan.fault)
    }

    /// In code that can wait.
    pub async fn at(&self, step: Step) -> Result<(), String> {
        let Some(fault) = self.due(step) else { return Ok(()) };
        self.struck.fetch_add(1, SeqCst);
        match fault {
            Fault::Panic => panics(),
            Fault::Hang => std::future::pending().await,
            Fault::Error => Err(format!("{step:?} broke")),
            Fault::Cancel => {
                self.cancel();
                Ok(())
            }
        }
    }

    /// In code that can neither wait nor fail.
    pub fn now(&self, step: Step) {
        match self.due(step) {
            Some(Fault::Panic) => {
                self.struck.fetch_add(1, SeqCst);
                panics()
            }
            Some(Fault::Cancel) => {
                self.struck.fetch_add(1, SeqCst);
                self.cancel();
            }
            Some(Fault::Hang | Fault::Error) | None => {}
        }
    }

    fn cancel(&self) {
        if let Some(run) = self.run.get() {
            run.cancel();
        }
    }
}

/// A panic that is not reported: there are thousands.
fn panics() -> ! {
    std::panic::resume_unwind(Box::new("planned"))
}
