//! A handful of tools whose schemas hold what providers differ in: options, bounds, lists, maps, formats.

use std::collections::BTreeMap;

use tinyagents::prelude::*;

/// How urgent something is.
#[tool_type]
pub(crate) enum Priority {
    /// Whenever there is time.
    Low,
    /// Today.
    High,
}

/// Search the notes of the user.
#[tool(read_only)]
pub(crate) fn search_notes(
    /// What to look for.
    #[arg(len = 1..=200)]
    query: &str,
    /// Only notes with one of these tags.
    tags: Option<Vec<String>>,
    /// The most notes to give.
    #[arg(default = 10, range = 1..=50)]
    limit: u32,
) -> String {
    let tags = tags.unwrap_or_default().join(", ");
    format!("no note about {query} (tags: {tags}; at most {limit})")
}

/// Send a mail in the name of the user.
#[tool(network, external_service, approval_required)]
pub(crate) fn send_mail(
    /// The address.
    #[arg(format = "email")]
    to: &str,
    /// The subject line.
    subject: &str,
    /// The text.
    body: &str,
    /// How urgent it is.
    priority: Option<Priority>,
) -> String {
    let urgency = match priority {
        Some(Priority::High) => "high",
        Some(Priority::Low) | None => "low",
    };
    format!("to {to}: {subject} ({} bytes, {urgency})", body.len())
}

/// Run a script.
#[tool(process, writes_files, sandbox = "required")]
pub(crate) fn run_script(
    /// The script.
    script: &str,
    /// Its environment.
    env: BTreeMap<String, String>,
) -> String {
    format!("{} bytes with {} variables", script.len(), env.len())
}

/// Replace the labels of an issue.
#[tool(external_service, idempotent)]
pub(crate) fn set_labels(
    /// The number of the issue.
    issue: u64,
    /// The labels, which replace those that it has.
    labels: Vec<String>,
) -> String {
    format!("#{issue}: {}", labels.join(", "))
}

/// A tool as an MCP server describes it: a name with dots, and a schema with keywords that few providers take.
pub(crate) fn imported() -> impl Tool<()> {
    DynTool::new(
        "tracker.issues/search",
        json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "description": "Search the issues of a tracker.",
            "properties": {
                "state": { "oneOf": [{ "const": "open" }, { "const": "closed" }] },
                "since": { "type": ["string", "null"], "format": "date-time", "default": null },
                "labels": { "type": "array", "items": { "type": "string" }, "uniqueItems": true }
            },
            "required": ["state"]
        }),
        ToolPolicy::read_only(),
        |_, _| async { Ok::<_, ToolError>("no issue") },
    )
}
