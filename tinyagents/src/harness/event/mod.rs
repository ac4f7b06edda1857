//! What happened: the events of a run, and the sink they go to.
//!
//! Guarantee: every tool call has exactly one terminal event (`tool.completed` or `tool.failed`), whatever
//! happens to it; an event that nobody listens to is not built.
//!
//! Not here: the transcript (`message`), and logs, which an application writes in its listener.

mod repair;
mod sink;
mod verdict;

pub use repair::RepairRule;
pub(crate) use sink::RunScope;
pub use sink::{EventListener, EventSink, PayloadCapture};
pub use verdict::{Decision, Effects, FailureKind};

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::id::{RunId, ThreadId, ToolCallId};
use super::message::{Arguments, ArtifactRef};

/// An event with its place in the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EventRecord {
    /// The run.
    pub run_id: RunId,
    /// The run that started this run, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_run_id: Option<RunId>,
    /// The outermost run.
    pub root_run_id: RunId,
    /// The position in the run's sequence of events, from 0.
    pub offset: u64,
    /// The turn, from 1; 0 before the first.
    pub turn: u32,
    /// The index of the call within its turn, for events of a call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_index: Option<u32>,
    /// When it happened.
    pub at: SystemTime,
    /// What happened.
    #[serde(flatten)]
    pub event: AgentEvent,
}

/// Something that happened in a run. `kind()` is the name it is recorded under.
///
/// Arguments and results are left out unless [`PayloadCapture::On`] asks for them; only
/// [`UnknownToolCall`](Self::UnknownToolCall) and [`InvalidToolArgs`](Self::InvalidToolArgs) always carry the
/// model's arguments verbatim, so that a listener can repair or replay the call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind")]
#[non_exhaustive]
pub enum AgentEvent {
    /// The run began.
    #[serde(rename = "run.started")]
    RunStarted {
        /// The conversation it belongs to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thread_id: Option<ThreadId>,
    },
    /// The run ended with a result; `finish` says how.
    #[serde(rename = "run.completed")]
    RunCompleted {
        /// `completed`, `cancelled`, or the limit that was reached.
        finish: String,
    },
    /// The run ended with an error.
    #[serde(rename = "run.failed")]
    RunFailed {
        /// The error, for a person.
        error: String,
    },
    /// A message queued through the run's handle entered the transcript.
    #[serde(rename = "message.queued")]
    MessageQueued {},
    /// The model is asked.
    #[serde(rename = "model.started")]
    ModelStarted {
        /// The model's name.
        model: String,
        /// The tools it was shown.
        tools: usize,
    },
    /// A piece of the reply's text arrived.
    #[serde(rename = "model.delta")]
    ModelDelta {
        /// The piece.
        text: String,
    },
    /// The reply is whole.
    #[serde(rename = "model.completed")]
    ModelCompleted {
        /// How many calls it makes.
        tool_calls: usize,
        /// Why the model stopped.
        finish: String,
        /// Tokens read, as the provider counted them.
        input_tokens: u64,
        /// Tokens written, as the provider counted them.
        output_tokens: u64,
    },
    /// A reply with calls opened a turn.
    #[serde(rename = "turn.opened")]
    TurnOpened {
        /// How many calls it makes.
        tool_calls: usize,
    },
    /// Calls of the turn that may run side by side begin; those before are settled.
    #[serde(rename = "turn.segment_opened")]
    SegmentOpened {
        /// The segment, from 0.
        segment: usize,
        /// How many of its calls are to run.
        calls: usize,
    },
    /// Every call of the turn has its result, and the history has taken them.
    #[serde(rename = "turn.closed")]
    TurnClosed {
        /// How many calls failed.
        failed: usize,
    },
    /// The model asked for a call.
    #[serde(rename = "tool.requested")]
    ToolRequested {
        /// The call.
        call_id: ToolCallId,
        /// The name the model wrote.
        tool_name: String,
        /// The arguments, with [`PayloadCapture::On`].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        arguments: Option<Arguments>,
    },
    /// The gate decided on a valid call.
    #[serde(rename = "tool.decided")]
    ToolDecided {
        /// The call.
        call_id: ToolCallId,
        /// The tool's canonical name.
        tool_name: String,
        /// The decision.
        decision: Decision,
        /// What it rests on.
        reason: String,
    },
    /// A person is asked whether a call may run.
    #[serde(rename = "tool.approval_asked")]
    ApprovalAsked {
        /// The call.
        call_id: ToolCallId,
        /// The tool's canonical name.
        tool_name: String,
    },
    /// The person answered, or nobody did in time.
    #[serde(rename = "tool.approval_answered")]
    ApprovalAnswered {
        /// The call.
        call_id: ToolCallId,
        /// The tool's canonical name.
        tool_name: String,
        /// The answer.
        decision: Decision,
        /// What it rests on.
        reason: String,
    },
    /// The call has all permits that it needs.
    #[serde(rename = "tool.admitted")]
    ToolAdmitted {
        /// The call.
        call_id: ToolCallId,
        /// The tool's canonical name.
        tool_name: String,
    },
    /// The tool's body starts. An attempt after the first is announced by `tool.retrying` instead.
    #[serde(rename = "tool.started")]
    ToolStarted {
        /// The call.
        call_id: ToolCallId,
        /// The tool's canonical name.
        tool_name: String,
    },
    /// The call failed for a reason that may pass, and is made again.
    #[serde(rename = "tool.retrying")]
    ToolRetrying {
        /// The call.
        call_id: ToolCallId,
        /// The tool's canonical name.
        tool_name: String,
        /// The number of the attempt to come, from 2.
        attempt: u32,
        /// How long it waits first.
        after: Duration,
        /// The error of the attempt before, for a person.
        error: String,
    },
    /// An async body held its thread for longer than 50 ms without an await: nothing else runs there meanwhile, not
    /// even its own timeout. Work that blocks belongs into a plain `fn`, which gets a thread of its own.
    #[serde(rename = "tool.blocking")]
    ToolBlocking {
        /// The call.
        call_id: ToolCallId,
        /// The tool's canonical name.
        tool_name: String,
        /// How long.
        held: Duration,
    },
    /// The tool reports how far it is.
    #[serde(rename = "tool.progress")]
    ToolProgress {
        /// What it reports.
        message: String,
    },
    /// The call has a good result.
    #[serde(rename = "tool.completed")]
    ToolCompleted {
        /// The call.
        call_id: ToolCallId,
        /// The tool's canonical name.
        tool_name: String,
        /// How long the body ran.
        elapsed: Duration,
        /// How often it was started.
        attempts: u32,
        /// Where the whole output is kept, if the model was shown a part.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        artifacts: Vec<ArtifactRef>,
        /// The result's text, with [`PayloadCapture::On`].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result: Option<String>,
    },
    /// The call failed; the model is told, and exactly one result stands in the transcript.
    #[serde(rename = "tool.failed")]
    ToolFailed {
        /// The call.
        call_id: ToolCallId,
        /// The tool's canonical name, or the name the model wrote.
        tool_name: String,
        /// Why it failed.
        failure: FailureKind,
        /// What is known of its effects.
        effects: Effects,
        /// The error, for a person.
        error: String,
        /// How long the body ran.
        elapsed: Duration,
        /// How often it was started; 0 if it never was.
        attempts: u32,
    },
    /// The model called a tool that it was not shown.
    #[serde(rename = "tool.unknown")]
    UnknownToolCall {
        /// The call.
        call_id: ToolCallId,
        /// The name the model wrote.
        requested_name: String,
        /// The arguments, verbatim.
        arguments: Value,
        /// What was done: `tool_error`, `rewrite:NAME`, `repair:NAME`, or `fail`.
        recovery: String,
    },
    /// The arguments of a call were no JSON, or broke the tool's schema.
    #[serde(rename = "tool.invalid_args")]
    InvalidToolArgs {
        /// The call.
        call_id: ToolCallId,
        /// The tool.
        tool_name: String,
        /// The arguments, verbatim; a string if they were no JSON.
        arguments: Value,
        /// What is wrong with them.
        error: String,
        /// What was done: `tool_error`, or `fail`.
        recovery: String,
    },
    /// A call was brought into the form that its tool's schema asks for, before any policy or person saw it.
    #[serde(rename = "tool.arguments_repaired")]
    ArgumentsRepaired {
        /// Where in the arguments, as a JSON Pointer (RFC 6901); empty for the call as a whole.
        path: String,
        /// What was done.
        rule: RepairRule,
        /// Whether it was done: not with `ArgumentRepair::Observe`, nor where a text may be meant as it is.
        applied: bool,
    },
    /// Something an application or a tool wants recorded.
    #[serde(rename = "custom")]
    Custom {
        /// The application's name for it.
        name: String,
        /// Its content.
        data: Value,
    },
}

impl AgentEvent {
    /// The name under which the event is recorded.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::RunStarted { .. } => "run.started",
            Self::RunCompleted { .. } => "run.completed",
            Self::RunFailed { .. } => "run.failed",
            Self::MessageQueued {} => "message.queued",
            Self::ModelStarted { .. } => "model.started",
            Self::ModelDelta { .. } => "model.delta",
            Self::ModelCompleted { .. } => "model.completed",
            Self::TurnOpened { .. } => "turn.opened",
            Self::SegmentOpened { .. } => "turn.segment_opened",
            Self::TurnClosed { .. } => "turn.closed",
            Self::ToolRequested { .. } => "tool.requested",
            Self::ToolDecided { .. } => "tool.decided",
            Self::ApprovalAsked { .. } => "tool.approval_asked",
            Self::ApprovalAnswered { .. } => "tool.approval_answered",
            Self::ToolAdmitted { .. } => "tool.admitted",
            Self::ToolStarted { .. } => "tool.started",
            Self::ToolRetrying { .. } => "tool.retrying",
            Self::ToolBlocking { .. } => "tool.blocking",
            Self::ToolProgress { .. } => "tool.progress",
            Self::ToolCompleted { .. } => "tool.completed",
            Self::ToolFailed { .. } => "tool.failed",
            Self::UnknownToolCall { .. } => "tool.unknown",
            Self::InvalidToolArgs { .. } => "tool.invalid_args",
            Self::ArgumentsRepaired { .. } => "tool.arguments_repaired",
            Self::Custom { .. } => "custom",
        }
    }

    /// Whether this is the last event of a call.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::ToolCompleted { .. } | Self::ToolFailed { .. })
    }
}
