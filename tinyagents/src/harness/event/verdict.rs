//! How a call was decided on, and how it failed.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How the gate decided on a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Decision {
    /// The call may run.
    Allow,
    /// A person decides.
    Ask,
    /// The call must not run.
    Deny,
}

/// Why a call failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FailureKind {
    /// No advertised tool has that name.
    UnknownTool,
    /// The arguments were no JSON, or broke the tool's schema.
    InvalidArguments,
    /// A hook or the policy refused the call, what its tool injects could not be had, or the tool asked for a person
    /// whom the run has not.
    Denied,
    /// The tool returned an error.
    Error,
    /// The tool panicked.
    Panicked,
    /// The tool did not end in its time.
    TimedOut,
    /// The run was cancelled.
    Cancelled,
    /// A limit of the run was reached before the call could start.
    LimitReached,
    /// An earlier call of the turn kept this one from starting.
    Skipped,
    /// It did not end when it was told to, cannot be stopped, and still runs. It keeps its permits until it ends.
    Abandoned,
    /// It could not start: a body that may change something was abandoned and still runs.
    WriterBusy,
    /// It could not start: everything it needs is held by abandoned bodies.
    NoCapacity,
    /// It repeats an earlier call of its turn, id included, and was not made again.
    Duplicate,
    /// A new message of the user came while a person was asked about it.
    Superseded,
}

/// What is known of a failed call's effects on the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Effects {
    /// The tool never started.
    None,
    /// The tool ended by itself; it may have done what it was asked.
    Done,
    /// The tool was stopped after it had started.
    Unknown,
}

macro_rules! labelled {
    ($($name:ident { $($variant:ident => $label:literal,)* })*) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $(Self::$variant => $label,)*
                })
            }
        }
    )*};
}

labelled! {
    Decision {
        Allow => "allowed",
        Ask => "asks a person",
        Deny => "denied",
    }
    FailureKind {
        UnknownTool => "unknown tool",
        InvalidArguments => "invalid arguments",
        Denied => "denied",
        Error => "failed",
        Panicked => "panicked",
        TimedOut => "timed out",
        Cancelled => "cancelled",
        LimitReached => "limit reached",
        Skipped => "skipped",
        Abandoned => "abandoned",
        WriterBusy => "writer busy",
        NoCapacity => "no capacity",
        Duplicate => "duplicate",
        Superseded => "superseded",
    }
    Effects {
        None => "not started",
        Done => "ended by itself",
        Unknown => "stopped, effects unknown",
    }
}
