//! What a provider would be shown of a harness's tools.
//!
//! Guarantee: it is what a request would hold, made by the same code; nothing is called, and no secret is read.
//!
//! Not here: what hooks would change or refuse: they are code, and decide on a call.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::harness::event::Decision;
use crate::harness::id::ToolName;
use crate::harness::message::shortened;
use crate::harness::policy::{ToolPolicy, decide};
use crate::harness::tool::dialect::{Lossy, SchemaDialect};
use crate::harness::tool::{JsonSchema, ToolRegistry, ToolSchema};
use crate::harness::workspace::WorkspaceDescriptor;

/// The bytes of JSON that count as a token in an estimate: about what tokenizers of current models make of schemas.
const BYTES_PER_TOKEN: usize = 4;

/// What a provider would be shown of a harness's tools. Displayed, it is a table for a terminal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// The dialect.
    pub dialect: String,
    /// The tools, in the order in which they are sent.
    pub tools: Vec<ExplainedTool>,
    /// What concerns all tools together.
    pub notes: Vec<Lossy>,
    /// The size of all declarations, estimated: see [`ExplainedTool::tokens`].
    pub tokens: usize,
    /// The most tools that one request may hold, if that is known.
    pub max_tools: Option<usize>,
}

/// One tool as a provider would be shown it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExplainedTool {
    /// Its own name.
    pub name: ToolName,
    /// The name that the provider is shown.
    pub shown_as: String,
    /// The schema that the provider is shown.
    pub schema: JsonSchema,
    /// Whether it is sent with the flag for strict mode.
    pub strict: bool,
    /// What the provider does not see of the schema. It is enforced all the same.
    pub notes: Vec<Lossy>,
    /// The size of the declaration (name, description and schema as compact JSON), estimated as four bytes to a token.
    pub tokens: usize,
    /// The tool's policy.
    pub policy: ToolPolicy,
    /// What the policy makes of a call. A hook may still refuse one.
    pub decision: Decision,
    /// What the decision rests on.
    pub reason: String,
}

impl Explanation {
    /// `asks`: whether a person can be asked.
    pub(super) fn of<S: Send + Sync, C: Send + Sync>(
        tools: &ToolRegistry<S, C>,
        dialect: &SchemaDialect,
        workspace: Option<&WorkspaceDescriptor>,
        asks: bool,
    ) -> Self {
        let schemas = tools.schemas_as(&tools.aliases_for(provider_of(dialect)));
        let adapted = dialect.adapt_all(&schemas);
        let explained = tools.all().zip(adapted.tools).map(|(tool, adapted)| {
            let verdict = decide(&tool.policy, workspace);
            let (decision, reason) = match verdict.decision {
                Decision::Ask if !asks => {
                    (Decision::Deny, "it needs a person's approval, and nobody can be asked")
                }
                decision => (decision, verdict.reason),
            };
            ExplainedTool {
                name: tool.spec.name.clone(),
                tokens: tokens(&adapted.schema),
                shown_as: adapted.schema.name,
                schema: adapted.schema.parameters,
                strict: adapted.strict,
                notes: adapted.notes,
                policy: tool.policy.clone(),
                decision,
                reason: reason.to_string(),
            }
        });
        let tools: Vec<ExplainedTool> = explained.collect();
        Self {
            dialect: dialect.name.to_string(),
            tokens: tools.iter().map(|tool| tool.tokens).sum(),
            tools,
            notes: adapted.notes,
            max_tools: dialect.limits.tools,
        }
    }
}

/// The provider whose aliases hold: a dialect of a mode is named after its provider.
fn provider_of(dialect: &SchemaDialect) -> &str {
    let name = dialect.name;
    name.strip_suffix("-strict").or_else(|| name.strip_suffix("-json")).unwrap_or(name)
}

fn tokens(tool: &ToolSchema) -> usize {
    let declaration = (&tool.name, &tool.description, &tool.parameters);
    serde_json::to_vec(&declaration).map_or(0, |bytes| bytes.len().div_ceil(BYTES_PER_TOKEN))
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |tool: &ExplainedTool| match tool.shown_as == tool.name.as_str() {
            true => plain(tool.name.as_str()),
            false => format!("{} (as {})", plain(tool.name.as_str()), plain(&tool.shown_as)),
        };
        let names: Vec<String> = self.tools.iter().map(name).collect();
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or_default().max(4);
        writeln!(f, "{:<width$}  {:>7}  {:<6}  {:<8}  reason", "tool", "tokens", "strict", "decision")?;
        for (tool, name) in self.tools.iter().zip(&names) {
            let strict = if tool.strict { "yes" } else { "no" };
            let decision = match tool.decision {
                Decision::Allow => "allow",
                Decision::Ask => "ask",
                Decision::Deny => "deny",
            };
            writeln!(f, "{name:<width$}  {:>7}  {strict:<6}  {decision:<8}  {}", tool.tokens, tool.reason)?;
            for note in &tool.notes {
                writeln!(f, "  - {}", plain(&note.to_string()))?;
            }
        }
        for note in &self.notes {
            writeln!(f, "{}", plain(&note.to_string()))?;
        }
        let most = self.max_tools.map(|most| format!(" of at most {most}")).unwrap_or_default();
        let lost: usize = self.tools.iter().map(|tool| tool.notes.len()).sum();
        write!(
            f,
            "{}: {} tools{most}, about {} tokens ({BYTES_PER_TOKEN} bytes of JSON each), {lost} rules that the \
             provider does not see",
            self.dialect,
            self.tools.len(),
            self.tokens,
        )
    }
}

/// What other programs named must not move the cursor of a terminal.
fn plain(text: &str) -> String {
    shortened(text, usize::MAX)
}
