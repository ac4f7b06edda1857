//! The last steps of a call: from the end of its body to its outcome.

use std::error::Error;
use std::sync::PoisonError;

use super::body::{BodyEnd, How, Why};
use super::outcome::{Ending, Failure, Outcome};
use super::prepare::Ready;
use super::{CallSite, Executor};
use crate::TinyAgentsError;
use crate::harness::context::LimitKind;
use crate::harness::event::{Effects, FailureKind};
use crate::harness::message::{ContentBlock, ToolCall, text_of};
use crate::harness::policy;
use crate::harness::tool::ToolError;

impl<S: Send + Sync + 'static, C: Send + Sync + 'static> Executor<S, C> {
    /// Steps 7 to 9.
    pub(super) async fn finish(&self, at: &CallSite, ready: &Ready<S, C>, end: BodyEnd) -> Outcome {
        let (tool, call) = (&ready.tool, &ready.call);
        if let BodyEnd::Returned(Err(TinyAgentsError::Tool(error))) = &end {
            self.on_tool_error(call, error).await;
        }
        let mut outcome = ended(call, end, ready.attempts);
        outcome.attempts = ready.attempts;
        if let Some(kept) = &ready.kept {
            outcome.result.artifacts.append(&mut kept.lock().unwrap_or_else(PoisonError::into_inner));
        }
        stamp(&mut outcome, ready);
        for hook in self.middleware.iter().rev() {
            let after = async { hook.after_tool(&self.ctx, &self.state, call, &mut outcome.result).await };
            let result = match self.in_time("a hook", after).await {
                Ok(result) => result.map_err(|error| error.to_string()),
                Err(failure) => Err(failure),
            }; // 7
            if let Err(error) = result {
                let failure =
                    Failure { kind: FailureKind::Error, effects: Effects::Done, error: error.clone() };
                let (ending, attempts) = (outcome.ending.take(), outcome.attempts);
                outcome = Outcome { ending, attempts, ..Outcome::failed(call, failure, &error) };
            }
            stamp(&mut outcome, ready);
        }
        // Of the whole output: what a cut leaves names where this very call's output is kept.
        let times = if tool.policy.runtime.polling { 0 } else { self.count_repeats(at.turn, call, &outcome) };
        self.bound(at, tool.policy.runtime.max_result_bytes, &mut outcome.result).await; // 8 and 9
        if tool.policy.runtime.return_direct && !outcome.result.is_error && outcome.ending.is_none() {
            outcome.ending = Some(Ending::Answer);
        }
        self.note_repeats(times, &mut outcome);
        outcome.shown = at.events.capture(|| {
            let result = &outcome.result;
            let hidden = result.value.as_ref().and_then(|value| policy::redacted(value, &tool.policy.redact));
            hidden.map_or_else(|| text_of(&result.content), |value| value.to_string())
        });
        outcome
    }

    /// Shows hooks the error itself. They cannot change what becomes of it here, so that one panics is no matter.
    async fn on_tool_error(&self, call: &ToolCall, error: &ToolError) {
        for hook in self.middleware.iter().rev() {
            let shown = async { hook.on_tool_error(&self.ctx, &self.state, call, error).await };
            let _ = self.in_time("a hook", shown).await;
        }
    }

    /// In how many turns the call has come to this, without another result in between.
    pub(super) fn count_repeats(&self, turn: u32, call: &ToolCall, outcome: &Outcome) -> u32 {
        self.memory.repeats.lock().unwrap_or_else(PoisonError::into_inner).count(turn, call, outcome)
    }

    /// Tells a model that goes in circles so, and stops it in the end.
    pub(super) fn note_repeats(&self, times: u32, outcome: &mut Outcome) {
        let limits = &self.policy.limits;
        if times > 0 && times >= limits.repeat_notice {
            let notice = format!(
                "note: this call was made {times} times with the same arguments and the same result; making it again \
                 changes nothing"
            );
            outcome.result.content.push(ContentBlock::text(notice));
        }
        if times > 0 && times >= limits.max_repeats && outcome.ending.is_none() {
            outcome.ending = Some(Ending::Limit(LimitKind::Repeats));
        }
    }
}

/// Id, name and time are the executor's to state, whatever a tool or a hook wrote; an error has no value.
fn stamp<S, C>(outcome: &mut Outcome, ready: &Ready<S, C>) {
    let result = &mut outcome.result;
    if result.tool_call_id != ready.call.id {
        result.tool_call_id.clone_from(&ready.call.id);
    }
    if result.name != ready.tool.spec.name {
        result.name.clone_from(&ready.tool.spec.name);
    }
    result.elapsed = ready.elapsed;
    if result.is_error {
        result.value = None;
        if outcome.failure.is_none() {
            let error = text_of(&result.content);
            outcome.failure = Some(Failure { kind: FailureKind::Error, effects: Effects::Done, error });
        }
    } else {
        outcome.failure = None;
    }
}

/// Why a person stopped a nested run, if that is what a body's error says or was made of: who stops a call, stops the
/// whole, also through a tool that passes errors on with `?`.
fn stopped(error: &TinyAgentsError) -> Option<String> {
    let mut next: Option<&(dyn Error + 'static)> = match error {
        TinyAgentsError::Tool(error) => error.source(),
        other => Some(other),
    };
    while let Some(error) = next {
        if let Some(TinyAgentsError::Stopped(reason)) = error.downcast_ref() {
            return Some(reason.clone());
        }
        next = error.source();
    }
    None
}

fn ended(call: &ToolCall, end: BodyEnd, attempts: u32) -> Outcome {
    let fail = |kind, effects, error: String, for_model: &str| {
        Outcome::failed(call, Failure { kind, effects, error }, for_model)
    };
    match end {
        BodyEnd::Returned(Ok(result)) => Outcome::good(result),
        BodyEnd::Returned(Err(error)) => {
            if let Some(reason) = stopped(&error) {
                let stopped = TinyAgentsError::Stopped(reason);
                let why = stopped.to_string();
                return fail(FailureKind::Denied, Effects::Done, why.clone(), &why)
                    .ending(Ending::Error(stopped));
            }
            let error = error.into_tool_error();
            let mut for_model = error.for_model(call.id.as_str());
            if attempts > 1 {
                for_model.push_str(&format!(" (after {attempts} attempts)"));
            }
            let kind = if error.needs_person() { FailureKind::Denied } else { FailureKind::Error };
            let outcome = fail(kind, Effects::Done, error.to_string(), &for_model);
            match error.is_fatal() {
                true => outcome.ending(Ending::Error(TinyAgentsError::Tool(error))),
                false => outcome,
            }
        }
        BodyEnd::Panicked(message) => {
            let why = format!("the tool panicked: {message}; what it had done by then is unknown");
            fail(FailureKind::Panicked, Effects::Unknown, format!("panicked: {message}"), &why)
        }
        BodyEnd::Killed => {
            let why = "the tool was stopped from outside, with the runtime that it ran on; what it had done by then is \
                       unknown";
            fail(FailureKind::Cancelled, Effects::Unknown, why.into(), why)
        }
        BodyEnd::NotBegun(why) => {
            let (kind, what) = cause(why);
            let why = format!("not executed: {what} before there was a thread for the call");
            fail(kind, Effects::None, why.clone(), &why)
        }
        BodyEnd::Stopped { why, how } => {
            let own = matches!(why, Why::TimedOut(_));
            let (kind, what) = cause(why);
            let why = if own { what } else { format!("{what} while the tool ran") };
            let (kind, effects, known) = match how {
                How::ByItself => {
                    (kind, Effects::Done, "it ended by itself after that, and may have done its work".into())
                }
                How::Panicked(message) => {
                    let known =
                        format!("it panicked after that: {message}; what it had done by then is unknown");
                    (kind, Effects::Unknown, known)
                }
                How::Forced => {
                    let known = "it was stopped, and what it had done by then is unknown";
                    (kind, Effects::Unknown, known.into())
                }
                How::Abandoned => {
                    let known = "it cannot be stopped and still runs, so what it does is unknown";
                    (FailureKind::Abandoned, Effects::Unknown, known.to_string())
                }
            };
            let why = format!("{why}; {known}");
            fail(kind, effects, why.clone(), &why)
        }
    }
}

fn cause(why: Why) -> (FailureKind, String) {
    match why {
        Why::TimedOut(after) => (FailureKind::TimedOut, format!("the tool timed out after {after:?}")),
        Why::RunOver => (FailureKind::TimedOut, "the run's time was over".into()),
        Why::Cancelled => (FailureKind::Cancelled, "the run was cancelled".into()),
        Why::Drained => (FailureKind::Cancelled, "another call ended the run".into()),
    }
}
