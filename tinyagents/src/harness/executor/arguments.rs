//! The arguments that a body gets.
//!
//! Guarantee: a body sees only arguments that fit its tool's schema and that its types read, and every change to what
//! the model wrote is recorded. A valid call of plain types is checked once, without an allocation; other types read
//! their values once more. What the model is told of a refused call is bounded.
//!
//! Not here: text that is no JSON (`message`), and the steps of a repair (`tool::repair`).

use serde_json::Value;

use super::outcome::{Ending, Failure, Outcome};
use super::prepare::{ECHO, ECHOED_NAME, Step};
use super::{CallSite, Executor};
use crate::TinyAgentsError;
use crate::harness::context::{ArgumentRepair, ExtraArgs, InvalidArgsPolicy};
use crate::harness::event::{AgentEvent, Effects, FailureKind, RepairRule};
use crate::harness::message::{Arguments, ToolCall, quoted, shortened};
use crate::harness::policy;
use crate::harness::tool::{
    ArgumentProblem, MAX_PROBLEMS, Mended, Mending, RegisteredTool, integral_floats, mend, null_texts,
};

impl<S: Send + Sync + 'static, C: Send + Sync + 'static> Executor<S, C> {
    /// The arguments that the body gets, if they fit the schema.
    pub(super) fn valid_arguments(
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
        if call.arguments.had_lone_surrogate() {
            let (path, rule) = (String::new(), RepairRule::LoneSurrogate);
            at.events.emit_with(|| AgentEvent::ArgumentsRepaired { path, rule, applied: true });
        }
        let mut arguments = match &*call.arguments {
            Value::Null => Arguments::empty(),
            _ => call.arguments.clone(),
        };
        // None is a repair: a parameter may have several names, and "left out" and an integer two spellings.
        if let Some(value) = tool.validator.with_own_names(&arguments) {
            arguments = value.into();
        }
        if let Some(value) = tool.validator.without_nulls(&arguments) {
            arguments = value.into();
        }
        if let Some(value) = integral_floats(&arguments) {
            arguments = value.into();
        }
        let problems = problems(tool, &arguments);
        let fitting =
            if problems.is_empty() { Ok(arguments) } else { self.mended(at, tool, &arguments, problems) };
        let mut problems = match fitting {
            Ok(arguments) => {
                self.flag_null_texts(at, tool, &arguments);
                return Ok(arguments);
            }
            Err(left) => left,
        };
        redact(&mut problems, &tool.policy.redact);
        let error = list(&problems, "; ");
        // The model knows the tool by the name that it was shown.
        let why = invalid(&tool.spec.input_schema.to_string(), self.tools.shown(&call.name), &problems);
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

    /// Records texts that look like `null` and are kept, because texts are wanted where they stand.
    fn flag_null_texts(&self, at: &CallSite, tool: &RegisteredTool<S, C>, arguments: &Value) {
        if self.policy.repair == ArgumentRepair::Off {
            return;
        }
        for path in null_texts(&tool.validator, arguments) {
            let rule = RepairRule::NullText;
            at.events.emit_with(|| AgentEvent::ArgumentsRepaired { path, rule, applied: false });
        }
    }

    /// Arguments that broke the schema, in a form that fits it; or what is wrong even then. A call that stays invalid
    /// reports no repair, because none came of it.
    fn mended(
        &self,
        at: &CallSite,
        tool: &RegisteredTool<S, C>,
        arguments: &Value,
        left: Vec<ArgumentProblem>,
    ) -> Result<Arguments, Vec<ArgumentProblem>> {
        let record = |mended: &Mended, applied: bool| {
            for (path, rule) in &mended.steps {
                at.events.emit_with(|| AgentEvent::ArgumentsRepaired {
                    path: path.clone(),
                    rule: *rule,
                    applied,
                });
            }
        };
        let extra_args = tool.policy.runtime.extra_args.unwrap_or(self.policy.extra_args);
        let drop_extra = extra_args == ExtraArgs::DropWithNotice;
        let repaired = (self.policy.repair != ArgumentRepair::Off)
            .then(|| fitting(tool, arguments, Mending { repair: true, drop_extra }));
        match (repaired, self.policy.repair) {
            (Some(Ok(mended)), ArgumentRepair::On) => {
                record(&mended, true);
                return Ok(mended.value.into());
            }
            (Some(Err(left)), ArgumentRepair::On) => return Err(left),
            (Some(Ok(mended)), _) => record(&mended, false),
            _ => {}
        }
        if !drop_extra {
            return Err(left);
        }
        let mended = fitting(tool, arguments, Mending { repair: false, drop_extra })?;
        record(&mended, true);
        Ok(mended.value.into())
    }
}

/// Everything that is wrong with arguments.
fn problems<S, C>(tool: &RegisteredTool<S, C>, arguments: &Value) -> Vec<ArgumentProblem> {
    let mut problems = tool.validator.validate(arguments).err().unwrap_or_default();
    problems.extend(tool.validator.undeclared(arguments));
    if let (true, Some(asked)) = (problems.is_empty(), tool.asked) {
        problems = asked.unread(arguments);
    }
    problems
}

/// Mended arguments, if they fit then.
fn fitting<S, C>(
    tool: &RegisteredTool<S, C>,
    arguments: &Value,
    mending: Mending,
) -> Result<Mended, Vec<ArgumentProblem>> {
    let mut mended = mend(&tool.validator, arguments, mending);
    if let Some(value) = integral_floats(&mended.value) {
        mended.value = value;
    }
    let problems = problems(tool, &mended.value);
    if problems.is_empty() { Ok(mended) } else { Err(problems) }
}

/// Takes values that a policy hides out of what is said of them.
fn redact(problems: &mut [ArgumentProblem], hidden: &[String]) {
    if hidden.is_empty() {
        return;
    }
    for problem in problems {
        if problem.got != "nothing" && policy::is_hidden(&problem.path, hidden) {
            problem.got = "[redacted]".into();
        }
    }
}

/// Whole problems, as many as there is room for.
fn list(problems: &[ArgumentProblem], separator: &str) -> String {
    let mut room = ECHO;
    let lines = problems.iter().map(|problem| shortened(&problem.to_string(), ECHO / 2));
    let fits = |line: &String| {
        let left = room.checked_sub(line.chars().count());
        room = left.unwrap_or_default();
        left.is_some()
    };
    let mut listed: Vec<String> = lines.take_while(fits).collect();
    if listed.len() < problems.len() || problems.len() >= MAX_PROBLEMS {
        listed.push("and more".into());
    }
    listed.join(separator)
}

/// The answer to arguments that break the schema: what is wrong, and the schema to mend them by; at most 5,000
/// characters.
fn invalid(schema: &str, name: &str, problems: &[ArgumentProblem]) -> String {
    let problems = list(problems, "\n- ");
    let (name, schema) = (quoted(name, ECHOED_NAME), shortened(schema, ECHO));
    format!(
        "invalid arguments for `{name}`; nothing was executed:\n- {problems}\nThe arguments must fit this schema: {schema}"
    )
}
