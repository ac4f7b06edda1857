//! What surrounds a run: its configuration, its context, its limits, and the handle to steer it.
//!
//! Not here: what happens in the run (`runtime`), and which tools it has (`tool`).

mod control;
mod limits;
mod policy;
mod run;
mod settings;

pub(crate) use control::RunControl;
pub use control::{RunEnded, RunHandle};
pub use limits::{LimitBehavior, LimitKind, RunLimits};
pub use policy::{ArgumentRepair, ExtraArgs, FailurePolicy, InvalidArgsPolicy, RunPolicy, UnknownToolPolicy};
pub(crate) use run::RunBinding;
pub use run::{RunConfig, RunContext};
pub use settings::{ModelSettings, ToolChoice};
