//! The way of one call: the specification's ten steps, in order.

use std::sync::{Arc, PoisonError};

use serde_json::Value;

use super::body::{BodyEnd, caught};
use super::outcome::{Ending, Failure, Outcome};
use super::{CallSite, Executor};
use crate::TinyAgentsError;
use crate::harness::context::{InvalidArgsPolicy, LimitKind, UnknownToolPolicy};
use crate::harness::event::{AgentEvent, Decision, Effects, FailureKind};
use crate::harness::message::{Arguments, ToolCall, text_of};
use crate::harness::middleware::ToolGate;
use crate::harness::policy;
use crate::harness::tool::{
    ArgumentProblem, RegisteredTool, ToolError, ToolSchema, integral_floats, nearest_first, shortened,
};

/// The longest piece of a model's own words, or of a schema, that an answer repeats, in characters.
const ECHO: usize = 2_000;
/// The same for a name that no tool has.
const ECHOED_NAME: usize = 100;
/// How many tools an answer lists.
const LISTED: usize = 10;

type Step<T> = std::result::Result<T, Box<Outcome>>;

impl<S: Send + Sync + 'static, C: Send + Sync + 'static> Executor<S, C> {
    /// Takes one call through all steps.
    pub(super) async fn run_call(
        &mut self,
        at: &CallSite,
        call: ToolCall,
        advertised: &[ToolSchema],
    ) -> Outcome {
        self.requested(at, &call);
        let outcome = match self.admit(at, call, advertised).await {
            Ok((tool, call)) => self.execute(at, &tool, call).await,
            Err(refused) => *refused,
        };
        at.settled(outcome) // 10: tool.completed or tool.failed
    }

    /// Steps 1 to 4 and the policy gate: everything that can refuse a call before it starts.
    async fn admit(
        &mut self,
        at: &CallSite,
        mut call: ToolCall,
        advertised: &[ToolSchema],
    ) -> Step<(Arc<RegisteredTool<S, C>>, ToolCall)> {
        self.check_run(&call)?; // 1: cancellation, deadline, limits
        self.before_tool(&mut call).await?; // 2
        let tool = self.resolve(at, &mut call, advertised).await?; // 3: the final name
        let arguments = self.valid_arguments(at, &tool, &call)?; // 4: the final arguments
        call.arguments = arguments;
        let verdict = policy::decide(&tool.policy, self.ctx.workspace());
        at.events.emit_with(|| AgentEvent::ToolDecided {
            call_id: call.id.clone(),
            tool_name: call.name.clone(),
            decision: verdict.decision,
            reason: verdict.reason.clone(),
        });
        match verdict.decision {
            Decision::Allow => Ok((tool, call)),
            Decision::Deny => Err(denied(&call, &verdict.reason)),
        }
    }

    fn check_run(&mut self, call: &ToolCall) -> Step<()> {
        if self.ctx.control().cancellation.is_cancelled() {
            let why = "not executed: the run was cancelled before this call started";
            return Err(Box::new(Outcome::refused(call, FailureKind::Cancelled, why.into())));
        }
        let limit = match self.stop() {
            Some(limit) => limit,
            None if self.budget.tool_calls == 0 => LimitKind::ToolCalls,
            None => {
                self.budget.tool_calls -= 1;
                return Ok(());
            }
        };
        let why = format!("not executed: the run reached its limit `{limit}`");
        let outcome = Outcome::refused(call, FailureKind::LimitReached, why);
        Err(Box::new(outcome.ending(Ending::Limit(limit))))
    }

    async fn before_tool(&self, call: &mut ToolCall) -> Step<()> {
        let id = call.id.clone();
        for hook in &self.middleware {
            let gate = caught("a hook", hook.before_tool(&self.ctx, &self.state, call)).await;
            call.id.clone_from(&id); // a result always answers the call that was made
            match gate {
                Ok(Ok(ToolGate::Proceed)) => {}
                Ok(Ok(ToolGate::Reject { reason })) => return Err(denied(call, &reason)),
                // A hook that cannot decide has not agreed.
                Ok(Err(error)) => return Err(denied(call, &error.to_string())),
                Err(panic) => return Err(denied(call, &panic)),
            }
        }
        Ok(())
    }

    /// Finds the tool among those that the model was shown.
    async fn resolve(
        &self,
        at: &CallSite,
        call: &mut ToolCall,
        advertised: &[ToolSchema],
    ) -> Step<Arc<RegisteredTool<S, C>>> {
        if let Some(tool) = self.tools.advertised(&call.name, advertised) {
            return Ok(Arc::clone(tool));
        }
        let requested = call.clone();
        let report = |recovery: String| {
            at.events.emit_with(|| AgentEvent::UnknownToolCall {
                call_id: requested.id.clone(),
                requested_name: requested.name.clone(),
                arguments: requested.arguments.to_value(),
                recovery,
            });
        };
        let answer =
            |call: &ToolCall| Outcome::refused(call, FailureKind::UnknownTool, unknown(call, advertised));
        match &self.policy.unknown_tool {
            UnknownToolPolicy::Fail => {
                report("fail".into());
                let error = TinyAgentsError::ToolNotFound(call.name.clone());
                Err(Box::new(answer(call).ending(Ending::Error(error))))
            }
            UnknownToolPolicy::Rewrite { tool_name }
                if self.tools.advertised(tool_name, advertised).is_some() =>
            {
                report(format!("rewrite:{tool_name}"));
                call.name.clone_from(tool_name);
                // The call is another one now: every gate sees it anew.
                self.before_tool(call).await?;
                match self.tools.advertised(&call.name, advertised) {
                    Some(tool) => Ok(Arc::clone(tool)),
                    None => Err(Box::new(answer(call))),
                }
            }
            UnknownToolPolicy::ReturnToolError | UnknownToolPolicy::Rewrite { .. } => {
                report("tool_error".into());
                Err(Box::new(answer(call)))
            }
        }
    }

    /// The arguments that the body gets, if they fit the schema.
    fn valid_arguments(
        &self,
        at: &CallSite,
        tool: &RegisteredTool<S, C>,
        call: &ToolCall,
    ) -> Step<Arguments> {
        let report = |error: String, recovery: &str| {
            at.events.emit_with(|| AgentEvent::InvalidToolArgs {
                call_id: call.id.clone(),
                tool_name: call.name.clone(),
                arguments: call.arguments.to_value(),
                error,
                recovery: recovery.into(),
            });
        };
        if let Some(reason) = &call.invalid {
            report(reason.clone(), "tool_error");
            let why = format!("not executed: {reason}");
            return Err(Box::new(Outcome::refused(call, FailureKind::InvalidArguments, why)));
        }
        let mut arguments = match &*call.arguments {
            Value::Null => Arguments::empty(),
            _ => call.arguments.clone(),
        };
        if let Some(value) = tool.validator.with_own_names(&arguments) {
            arguments = value.into();
        }
        // Neither is a repair: JSON has other spellings of "left out" and of an integer than the tool expects.
        if let Some(value) = tool.validator.without_nulls(&arguments) {
            arguments = value.into();
        }
        if let Some(value) = integral_floats(&arguments) {
            arguments = value.into();
        }
        let Err(problems) = tool.validator.validate(&arguments) else { return Ok(arguments) };
        let error = list(&problems, "; ");
        let why = invalid(&tool.spec.input_schema.to_string(), &call.name, &problems);
        let kind = FailureKind::InvalidArguments;
        let for_person = format!("invalid arguments: {error}");
        let failure = Failure { kind, effects: Effects::None, error: for_person };
        let outcome = Outcome::failed(call, failure, &why);
        match self.policy.invalid_args {
            InvalidArgsPolicy::ReturnToolError => {
                report(error, "tool_error");
                Err(Box::new(outcome))
            }
            InvalidArgsPolicy::Fail => {
                report(error, "fail");
                let error = TinyAgentsError::InvalidArguments { tool: call.name.clone(), problems };
                Err(Box::new(outcome.ending(Ending::Error(error))))
            }
        }
    }

    /// Steps 5 to 9: the body, and what becomes of its result.
    async fn execute(&self, at: &CallSite, tool: &RegisteredTool<S, C>, call: ToolCall) -> Outcome {
        at.events.emit_with(|| AgentEvent::ToolStarted {
            call_id: call.id.clone(),
            tool_name: tool.spec.name.to_string(),
        }); // 5
        let started = self.clock.elapsed();
        let kept = Arc::default();
        let end = self.body(at, tool, call.clone(), &kept).await; // 6
        let elapsed = self.clock.elapsed().saturating_sub(started);
        if let BodyEnd::Returned(Err(TinyAgentsError::Tool(error))) = &end {
            self.on_tool_error(&call, error).await;
        }
        let mut outcome = ended(&call, end);
        outcome.result.artifacts.append(&mut kept.lock().unwrap_or_else(PoisonError::into_inner));
        stamp(&mut outcome, &call, tool, elapsed);
        for hook in self.middleware.iter().rev() {
            let after = hook.after_tool(&self.ctx, &self.state, &call, &mut outcome.result);
            let result = match caught("a hook", after).await {
                Ok(result) => result.map_err(|error| error.to_string()),
                Err(panic) => Err(panic),
            }; // 7
            if let Err(error) = result {
                let failure =
                    Failure { kind: FailureKind::Error, effects: Effects::Done, error: error.clone() };
                let ending = outcome.ending.take();
                outcome = Outcome { ending, ..Outcome::failed(&call, failure, &error) };
            }
            stamp(&mut outcome, &call, tool, elapsed);
        }
        self.bound(at, tool.policy.runtime.max_result_bytes, &mut outcome.result).await; // 8 and 9
        if tool.policy.runtime.return_direct && !outcome.result.is_error && outcome.ending.is_none() {
            outcome.ending = Some(Ending::Answer);
        }
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
            let _ = caught("a hook", hook.on_tool_error(&self.ctx, &self.state, call, error)).await;
        }
    }
}

/// Id, name and time are the executor's to state, whatever a tool or a hook wrote; an error has no value.
fn stamp<S, C>(
    outcome: &mut Outcome,
    call: &ToolCall,
    tool: &RegisteredTool<S, C>,
    elapsed: std::time::Duration,
) {
    let result = &mut outcome.result;
    result.tool_call_id.clone_from(&call.id);
    result.name.clone_from(&tool.spec.name);
    result.elapsed = elapsed;
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

fn ended(call: &ToolCall, end: BodyEnd) -> Outcome {
    let fail = |kind, effects, error: String, for_model: &str| {
        Outcome::failed(call, Failure { kind, effects, error }, for_model)
    };
    let known = |effects| match effects {
        Effects::Done => "it ended by itself after that, and may have done its work",
        _ => "it was stopped, and what it had done by then is unknown",
    };
    match end {
        BodyEnd::Returned(Ok(result)) => Outcome::good(*result),
        BodyEnd::Returned(Err(error)) => {
            let error = error.into_tool_error();
            let for_model = error.for_model(call.id.as_str());
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
        BodyEnd::TimedOut { after, effects } => {
            let why = format!("the tool timed out after {after:?}; {}", known(effects));
            fail(FailureKind::TimedOut, effects, why.clone(), &why)
        }
        BodyEnd::RunOver { effects } => {
            let why = format!("the run's time was over while the tool ran; {}", known(effects));
            fail(FailureKind::TimedOut, effects, why.clone(), &why)
        }
        BodyEnd::Cancelled { effects } => {
            let why = format!("the run was cancelled while the tool ran; {}", known(effects));
            fail(FailureKind::Cancelled, effects, why.clone(), &why)
        }
    }
}

fn denied(call: &ToolCall, reason: &str) -> Box<Outcome> {
    let why = format!("denied, and not executed: {reason}");
    Box::new(Outcome::refused(call, FailureKind::Denied, why))
}

/// The answer to a call of a tool that the model was not shown.
fn unknown(call: &ToolCall, advertised: &[ToolSchema]) -> String {
    let name = shortened(&call.name, ECHOED_NAME);
    let arguments = shortened(&call.arguments.to_string(), ECHO);
    let names: Vec<&str> = advertised.iter().map(|schema| schema.name.as_str()).collect();
    let known = match names.len() {
        0 => "there are no tools in this turn; answer without one".to_string(),
        count => {
            let nearest: Vec<_> = nearest_first(&call.name, &names).into_iter().take(LISTED).collect();
            let more = if count > LISTED { format!(" and {} more", count - LISTED) } else { String::new() };
            format!("call one of: {}{more}", nearest.join(", "))
        }
    };
    format!("unknown tool `{name}`, called with {arguments}; nothing was executed; {known}")
}

fn list(problems: &[ArgumentProblem], separator: &str) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join(separator)
}

/// The answer to arguments that break the schema: what is wrong, and the schema to mend them by.
fn invalid(schema: &str, name: &str, problems: &[ArgumentProblem]) -> String {
    let problems = list(problems, "\n- ");
    let schema = shortened(schema, ECHO);
    format!(
        "invalid arguments for `{name}`; nothing was executed:\n- {problems}\nThe arguments must fit this schema: {schema}"
    )
}
