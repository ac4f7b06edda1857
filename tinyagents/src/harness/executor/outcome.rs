//! How a call ended, in three texts: for the model, for a person, and as data.

use std::time::Duration;

use crate::TinyAgentsError;
use crate::harness::context::LimitKind;
use crate::harness::event::{AgentEvent, Effects, FailureKind};
use crate::harness::id::ToolName;
use crate::harness::message::{ContentBlock, ToolCall};
use crate::harness::tool::ToolResult;

/// Why a turn is the run's last.
#[derive(Debug)]
pub(crate) enum Ending {
    /// The run ends with an error.
    Error(TinyAgentsError),
    /// The run met a limit.
    Limit(LimitKind),
    /// The call's result is the run's answer.
    Answer,
}

impl Ending {
    /// Whether nothing more may start in the turn. Calls within the budget still run when later ones are over it.
    pub(super) fn drains(&self) -> bool {
        !matches!(self, Self::Answer | Self::Limit(LimitKind::ToolCalls))
    }
}

/// How a call ended.
pub(crate) struct Outcome {
    pub(crate) result: Box<ToolResult>,
    pub(crate) failure: Option<Failure>,
    pub(crate) ending: Option<Ending>,
    /// How often the body was started.
    pub(crate) attempts: u32,
    /// The result's text for events, if they carry it.
    pub(crate) shown: Option<String>,
}

/// What an application is told of a failed call.
pub(crate) struct Failure {
    pub(crate) kind: FailureKind,
    pub(crate) effects: Effects,
    /// For a person; may hold what the model must not see.
    pub(crate) error: String,
}

impl Outcome {
    /// A call that ended well.
    pub(crate) fn good(result: Box<ToolResult>) -> Self {
        Self { result, failure: None, ending: None, attempts: 0, shown: None }
    }

    /// A call that never started. The model and the person read the same text.
    pub(crate) fn refused(call: &ToolCall, kind: FailureKind, why: String) -> Self {
        let result = error_result(call, &why);
        Self::from_failure(result, Failure { kind, effects: Effects::None, error: why })
    }

    /// A call that failed, with one text for the application and one for the model.
    pub(crate) fn failed(call: &ToolCall, failure: Failure, for_model: &str) -> Self {
        Self::from_failure(error_result(call, for_model), failure)
    }

    /// A call that had started when its run was dropped.
    pub(crate) fn interrupted(call: &ToolCall, attempts: u32) -> Self {
        let why = "interrupted: the call had started, and what it had done by then is unknown";
        let failure = Failure { kind: FailureKind::Cancelled, effects: Effects::Unknown, error: why.into() };
        Self { attempts, ..Self::failed(call, failure, why) }
    }

    fn from_failure(result: ToolResult, failure: Failure) -> Self {
        Self { result: Box::new(result), failure: Some(failure), ending: None, attempts: 0, shown: None }
    }

    /// Makes this the last turn of the run.
    pub(crate) fn ending(mut self, ending: Ending) -> Self {
        self.ending = Some(ending);
        self
    }

    pub(crate) fn terminal_event(&self) -> AgentEvent {
        let result = &self.result;
        match &self.failure {
            None => AgentEvent::ToolCompleted {
                call_id: result.tool_call_id.clone(),
                tool_name: result.name.to_string(),
                elapsed: result.elapsed,
                attempts: self.attempts,
                artifacts: result.artifacts.clone(),
                result: self.shown.clone(),
            },
            Some(failure) => AgentEvent::ToolFailed {
                call_id: result.tool_call_id.clone(),
                tool_name: result.name.to_string(),
                failure: failure.kind,
                effects: failure.effects,
                error: failure.error.clone(),
                elapsed: result.elapsed,
                attempts: self.attempts,
            },
        }
    }
}

/// An error as the model reads it. Providers without an error flag only have the text, so it says what it is.
pub(crate) fn error_result(call: &ToolCall, why: &str) -> ToolResult {
    ToolResult {
        tool_call_id: call.id.clone(),
        name: ToolName::unchecked(&call.name),
        content: vec![ContentBlock::text(format!("error: {why}"))],
        value: None,
        artifacts: Vec::new(),
        is_error: true,
        provider: None,
        elapsed: Duration::ZERO,
    }
}
