//! The first steps of a call: everything that can refuse it before its turn opens a segment.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::body::BodyEnd;
use super::outcome::{Ending, Outcome};
use super::plan::Admission;
use super::{CallSite, Executor};
use crate::TinyAgentsError;
use crate::harness::context::{ArgumentRepair, LimitKind, UnknownToolPolicy};
use crate::harness::event::{AgentEvent, FailureKind, RepairRule};
use crate::harness::message::{ArtifactRef, ToolCall, quoted, shortened};
use crate::harness::middleware::ToolGate;
use crate::harness::tool::{RegisteredTool, ToolClass, ToolSchema, folded, nearest_first};

/// The longest piece of a model's own words, or of a schema, that an answer repeats, in characters.
pub(super) const ECHO: usize = 2_000;
/// The same for the name of a tool, and one that no tool has. Every provider with a rule takes 128 at most.
pub(super) const ECHOED_NAME: usize = 128;
/// How many tools an answer lists.
const LISTED: usize = 10;

pub(super) type Step<T> = std::result::Result<T, Box<Outcome>>;

/// A call that may run; boxed, because it changes hands a dozen times.
pub(super) type Ready<S, C> = Box<ReadyCall<S, C>>;

/// Its final name and arguments, and how it is admitted.
pub(super) struct ReadyCall<S, C> {
    pub(super) index: usize,
    pub(super) tool: Arc<RegisteredTool<S, C>>,
    pub(super) call: ToolCall,
    pub(super) kind: Admission,
    /// Why a person must be asked first, if one must.
    pub(super) ask: Option<String>,
    /// How often the body was started.
    pub(super) attempts: u32,
    /// How long it ran, all attempts together.
    pub(super) elapsed: Duration,
    /// What the body has put into the artifact store, if there is one.
    pub(super) kept: Option<Arc<Mutex<Vec<ArtifactRef>>>>,
    /// How the last attempt ended, if there is to be another.
    pub(super) last: Option<BodyEnd>,
}

impl<S: Send + Sync + 'static, C: Send + Sync + 'static> Executor<S, C> {
    /// Steps 1 to 4 and the gate.
    pub(super) async fn prepare(
        &self,
        at: &CallSite,
        mut call: ToolCall,
        advertised: &[ToolSchema],
    ) -> Step<Ready<S, C>> {
        self.check_run(&call)?; // 1: cancellation, deadline, limits
        let mut ask = self.before_tool(&mut call).await?; // 2
        let tool = self.resolve(at, &mut call, advertised, &mut ask).await?; // 3: the final name
        call.arguments = self.valid_arguments(at, &tool, &call)?; // 4: the final arguments
        let kind = self.admission(&tool, &call);
        if kind.is_nested() && self.depth() >= self.policy.limits.max_depth {
            let deepest = self.policy.limits.max_depth;
            let why = format!("not executed: it starts a run, and runs may be nested only {deepest} deep");
            return Err(Box::new(Outcome::refused(&call, FailureKind::LimitReached, why)));
        }
        if self.reads_only && !kind.only_reads() {
            return Err(denied(&call, "this run may only read, and the call may change something"));
        }
        let ask = self.gate(at, &tool, &call, ask)?;
        let (index, kept) = (at.index as usize, self.stores.artifacts().map(|_| Arc::default()));
        let (attempts, elapsed, last) = (0, Duration::ZERO, None);
        Ok(Box::new(ReadyCall { index, tool, call, kind, ask, attempts, elapsed, kept, last }))
    }

    /// Whether a call still may begin; takes it from the budget.
    fn check_run(&self, call: &ToolCall) -> Step<()> {
        if self.is_cancelled() {
            return Err(Box::new(cancelled_before_start(call)));
        }
        if self.budget.is_over() {
            return Err(Box::new(limited(call, LimitKind::Duration)));
        }
        self.budget.take_tool_call().map_err(|limit| Box::new(limited(call, limit)))
    }

    /// Shows the call to the hooks; gives why a person must be asked, if one of them says so.
    async fn before_tool(&self, call: &mut ToolCall) -> Step<Option<String>> {
        let mut ask = None;
        for hook in &self.middleware {
            let id = call.id.clone();
            let gate = async { hook.before_tool(&self.ctx, &self.state, call).await };
            let gate = self.in_time("a hook", gate).await;
            call.id = id; // a result always answers the call that was made
            match gate {
                Ok(Ok(ToolGate::Proceed)) => {}
                Ok(Ok(ToolGate::Ask { reason })) => ask = ask.or(Some(reason)),
                Ok(Ok(ToolGate::Reject { reason })) => return Err(denied(call, &reason)),
                // A hook that cannot decide has not agreed.
                Ok(Err(error)) => return Err(denied(call, &error.to_string())),
                Err(failure) => return Err(denied(call, &failure)),
            }
        }
        Ok(ask)
    }

    /// Finds the tool among those that the model was shown.
    async fn resolve(
        &self,
        at: &CallSite,
        call: &mut ToolCall,
        advertised: &[ToolSchema],
        ask: &mut Option<String>,
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
        if self.policy.repair != ArgumentRepair::Off {
            if let Some(name) = self.only_spelling(&call.name, advertised) {
                let applied = self.policy.repair == ArgumentRepair::On;
                let (path, rule) = (String::new(), RepairRule::ToolName);
                at.events.emit_with(|| AgentEvent::ArgumentsRepaired { path, rule, applied });
                if applied {
                    report(format!("repair:{name}"));
                    return self.renamed(call, &name, advertised, ask).await;
                }
            }
        }
        match &self.policy.unknown_tool {
            UnknownToolPolicy::Fail => {
                report("fail".into());
                let error = TinyAgentsError::ToolNotFound(call.name.clone());
                Err(Box::new(unknown(call, advertised).ending(Ending::Error(error))))
            }
            UnknownToolPolicy::Rewrite { tool_name }
                if self.tools.advertised(tool_name, advertised).is_some() =>
            {
                report(format!("rewrite:{tool_name}"));
                self.renamed(call, tool_name, advertised, ask).await
            }
            UnknownToolPolicy::ReturnToolError | UnknownToolPolicy::Rewrite { .. } => {
                report("tool_error".into());
                Err(Box::new(unknown(call, advertised)))
            }
        }
    }

    /// The call under another name. It is another call now: every gate sees it anew.
    async fn renamed(
        &self,
        call: &mut ToolCall,
        name: &str,
        advertised: &[ToolSchema],
        ask: &mut Option<String>,
    ) -> Step<Arc<RegisteredTool<S, C>>> {
        call.name = name.to_owned();
        *ask = self.before_tool(call).await?.or(ask.take());
        match self.tools.advertised(&call.name, advertised) {
            Some(tool) => Ok(Arc::clone(tool)),
            None => Err(Box::new(unknown(call, advertised))),
        }
    }

    /// The canonical name of the one advertised tool that a name spells in another way.
    fn only_spelling(&self, name: &str, advertised: &[ToolSchema]) -> Option<String> {
        let wanted = folded(name);
        let spelt = |shown: &str| {
            let canonical = self.tools.canonical(shown).map(ToString::to_string)?;
            (folded(shown) == wanted || folded(&canonical) == wanted).then_some(canonical)
        };
        let mut same = advertised.iter().filter_map(|schema| spelt(&schema.name));
        same.next().filter(|_| !wanted.is_empty() && same.next().is_none())
    }

    /// How the call is admitted. What the tool says of these arguments counts, if it can say it.
    fn admission(&self, tool: &RegisteredTool<S, C>, call: &ToolCall) -> Admission {
        let class = catch_unwind(AssertUnwindSafe(|| tool.tool.effect(&call.arguments)));
        let reads = matches!(class, Ok(ToolClass::ReadOnly));
        match (tool.recursive, reads) {
            (true, true) => Admission::NestedRead,
            (true, false) => Admission::Nested,
            (false, true) => Admission::Read,
            (false, false) if self.tools.is_promoted(&tool.spec.name) => Admission::Overlap,
            (false, false) => Admission::Mutate,
        }
    }
}

pub(super) fn cancelled_before_start(call: &ToolCall) -> Outcome {
    let why = "not executed: the run was cancelled before this call started";
    Outcome::refused(call, FailureKind::Cancelled, why.into())
}

pub(super) fn limited(call: &ToolCall, limit: LimitKind) -> Outcome {
    let why = format!("not executed: the run reached its limit `{limit}`");
    Outcome::refused(call, FailureKind::LimitReached, why).ending(Ending::Limit(limit))
}

pub(super) fn denied(call: &ToolCall, reason: &str) -> Box<Outcome> {
    let why = format!("denied, and not executed: {reason}");
    Box::new(Outcome::refused(call, FailureKind::Denied, why))
}

/// The answer to a call of a tool that the model was not shown.
fn unknown(call: &ToolCall, advertised: &[ToolSchema]) -> Outcome {
    let name = quoted(&call.name, ECHOED_NAME);
    let arguments = shortened(&call.arguments.to_string(), ECHO);
    let names: Vec<&str> = advertised.iter().map(|schema| schema.name.as_str()).collect();
    let known = match names.len() {
        0 => "there are no tools in this turn; answer without one".to_string(),
        count => {
            let nearest = nearest_first(&call.name, &names).into_iter().take(LISTED);
            let nearest: Vec<_> = nearest.map(|name| shortened(name, ECHOED_NAME)).collect();
            let more = if count > LISTED { format!(" and {} more", count - LISTED) } else { String::new() };
            format!("call one of: {}{more}", nearest.join(", "))
        }
    };
    let why = format!("unknown tool `{name}`, called with {arguments}; nothing was executed; {known}");
    Outcome::refused(call, FailureKind::UnknownTool, why)
}
