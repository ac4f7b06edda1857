//! What the terminal shows of a run.
//!
//! Guarantee: text that a model, a file or a server wrote cannot steer the terminal; colour is used only if asked
//! for; a writer that is closed is an error and no panic.

use std::io::{self, Write};
use std::time::Duration;

use tinyagents::harness::event::Effects;
use tinyagents::harness::policy::WorkspaceAccess;
use tinyagents::harness::tool::ToolSchema;
use tinyagents::prelude::*;

use super::files::Files;

const BOLD: &str = "1";
const DIM: &str = "2";
const RED: &str = "31";
const GREEN: &str = "32";
const CYAN: &str = "36";

/// The most characters of arguments and results on a line.
const SHORT: usize = 160;

/// Writes a run to a terminal or a pipe.
pub(crate) struct Show<W> {
    out: W,
    color: bool,
    /// Whether the last line is text of the model, to which more may come.
    in_text: bool,
    /// In how many pieces the model's text came.
    pieces: usize,
}

impl<W: Write> Show<W> {
    /// Writes to `out`.
    pub(crate) fn new(out: W, color: bool) -> Self {
        Self { out, color, in_text: false, pieces: 0 }
    }

    /// A heading and what stands beside it.
    pub(crate) fn fact(&mut self, name: &str, text: &str) -> io::Result<()> {
        let name = self.paint(BOLD, name);
        self.line(&format!("{name} {}", clean(text)))
    }

    /// The tools as the model sees them, and what each may do.
    pub(crate) fn tools(&mut self, tools: &ToolRegistry<Files>) -> io::Result<()> {
        let heading = self.paint(BOLD, "tools, as the model sees them:");
        self.line(&format!("\n{heading}"))?;
        let policies = tools.policies();
        for tool in tools.schemas() {
            let name = self.paint(CYAN, &tool.name);
            self.line(&format!("  {name}({})", parameters(&tool)))?;
            self.line(&format!("      {}", tool.description))?;
            let policy = policies.get(tool.name.as_str()).map(limits).unwrap_or_default();
            let policy = self.paint(DIM, &format!("policy: {policy}"));
            self.line(&format!("      {policy}"))?;
        }
        Ok(())
    }

    /// One event of the run.
    pub(crate) fn event(&mut self, record: &EventRecord) -> io::Result<()> {
        match &record.event {
            AgentEvent::ModelStarted { .. } => {
                let turn = self.paint(BOLD, &format!("turn {}", record.turn));
                self.line(&format!("\n{turn}"))
            }
            AgentEvent::ModelDelta { text } => self.delta(text),
            AgentEvent::ToolRequested { tool_name, arguments, .. } => {
                let arguments = arguments.as_ref().map(ToString::to_string).unwrap_or_default();
                let call = self.paint(CYAN, &clean(tool_name));
                self.line(&format!("  → {call}({})", short(&arguments)))
            }
            AgentEvent::ToolDecided { decision, reason, .. } => {
                let decision = self.paint(DIM, &format!("policy: {decision} ({reason})"));
                self.line(&format!("    {decision}"))
            }
            AgentEvent::ToolCompleted { tool_name, elapsed, result, .. } => {
                let result = result.as_deref().unwrap_or_default();
                self.ended(GREEN, "✓", tool_name, Some(*elapsed), result)
            }
            AgentEvent::ToolFailed { tool_name, effects: Effects::None, error, .. } => {
                self.ended(RED, "✗", tool_name, None, error)
            }
            AgentEvent::ToolFailed { tool_name, elapsed, error, .. } => {
                self.ended(RED, "✗", tool_name, Some(*elapsed), error)
            }
            _ => Ok(()),
        }
    }

    /// The result of a call, and how long the tool ran if it did.
    fn ended(
        &mut self,
        color: &str,
        mark: &str,
        tool: &str,
        took: Option<Duration>,
        text: &str,
    ) -> io::Result<()> {
        let mark = self.paint(color, mark);
        let took = took.map_or("not run".into(), |took| format!("{took:.1?}"));
        self.line(&format!("    {mark} {} ({took}): {}", clean(tool), short(text)))
    }

    /// The first Ctrl-C was heard.
    pub(crate) fn interrupted(&mut self) -> io::Result<()> {
        self.line("\ncancelled: the run ends with a whole transcript; Ctrl-C again to quit at once")
    }

    /// The model's answer.
    pub(crate) fn answer(&mut self, answer: &str) -> io::Result<()> {
        self.line("")?;
        self.fact("answer:", answer)
    }

    /// What the run came to, counted in its transcript.
    pub(crate) fn summary(&mut self, end: &str, transcript: &[Message], took: Duration) -> io::Result<()> {
        let replies: Vec<_> = transcript.iter().filter_map(Message::as_assistant).collect();
        let calls: usize = replies.iter().map(|reply| reply.tool_calls.len()).sum();
        let results: Vec<_> = transcript.iter().filter_map(Message::as_tool).collect();
        let failed = results.iter().filter(|result| result.is_error).count();
        self.line("")?;
        let pieces = count(self.pieces, "piece");
        self.fact("end:", &format!("{end}, after {took:.1?}; text streamed in {pieces}"))?;
        let text = format!(
            "{}: {}, {}, {} ({failed} failed)",
            count(transcript.len(), "message"),
            count(replies.len(), "model turn"),
            count(calls, "tool call"),
            count(results.len(), "result"),
        );
        self.fact("transcript:", &text)
    }

    /// A piece of the model's text, as it comes.
    fn delta(&mut self, text: &str) -> io::Result<()> {
        let indented = clean(text).replace('\n', "\n  ");
        let start = if self.in_text { "" } else { "  " };
        self.in_text = true;
        self.pieces += 1;
        write!(self.out, "{start}{indented}")?;
        self.out.flush()
    }

    fn line(&mut self, text: &str) -> io::Result<()> {
        if std::mem::take(&mut self.in_text) {
            writeln!(self.out)?;
        }
        writeln!(self.out, "{text}")
    }

    fn paint(&self, color: &str, text: &str) -> String {
        if self.color { format!("\x1b[{color}m{text}\x1b[0m") } else { text.into() }
    }
}

/// A tool's parameters in the manner of a function: `path: string, limit: integer = 5`.
fn parameters(tool: &ToolSchema) -> String {
    let Some(Value::Object(properties)) = tool.parameters.get("properties") else { return String::new() };
    let parameter = |(name, schema): (&String, &Value)| {
        let kind = schema.get("type").and_then(Value::as_str).unwrap_or("any");
        let default = schema.get("default").map(|value| format!(" = {value}")).unwrap_or_default();
        format!("{name}: {kind}{default}")
    };
    properties.iter().map(parameter).collect::<Vec<_>>().join(", ")
}

/// A policy in a few words.
fn limits(policy: &ToolPolicy) -> String {
    let mut words = vec![if policy.is_read_only() { "read-only" } else { "has effects" }.to_string()];
    words.push(match policy.access.workspace {
        WorkspaceAccess::None => "no files".into(),
        WorkspaceAccess::Read => "reads files".into(),
        WorkspaceAccess::Scoped | WorkspaceAccess::Any => "writes files".into(),
    });
    words.extend(policy.runtime.timeout().map(|timeout| format!("ends after {timeout:?}")));
    words.extend(policy.runtime.max_result_bytes.map(|bytes| format!("at most {bytes} bytes back")));
    words.join(", ")
}

/// A number of things.
fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// Text without control characters, which could move the cursor or worse.
fn clean(text: &str) -> String {
    text.chars().filter(|c| *c == '\n' || !c.is_control()).collect()
}

/// Text on one line, cut short.
fn short(text: &str) -> String {
    let line = clean(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    match line.char_indices().nth(SHORT) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}
