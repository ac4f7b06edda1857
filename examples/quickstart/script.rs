//! The scripted model: it stands in for a real one, so that the example runs without network and key.
//!
//! Its steps are fixed, but each reads the results of the step before from the request, as a model would: every
//! number in its answer comes from a tool.

use tinyagents::harness::message::{AssistantMessage, ToolCall, ToolMessage};
use tinyagents::harness::model::{ModelError, ModelReply, ModelRequest};
use tinyagents::prelude::*;
use tinyagents::serde::de::DeserializeOwned;
use tinyagents::serde_json;
use tinyagents::testkit::ScriptedModel;

use super::tools::{LineCount, Listing, Matches};

/// What the script works on.
pub(crate) const QUESTION: &str = "Which text file has the most lines and how does it begin, how many text files \
                                   are there, and how often does the text `tool` occur in them?";

/// The model.
pub(crate) fn model() -> ScriptedModel {
    ScriptedModel::new().respond(look_around).respond(slip).respond(mend).respond(look_closer).respond(answer)
}

type Step = Result<ModelReply, ModelError>;

fn look_around(_: &ModelRequest) -> Step {
    say("First I look at what is there.", [call("list_files", json!({ "limit": 5 }))])
}

/// A wrong call, on purpose: models make them, and the run goes on.
fn slip(request: &ModelRequest) -> Step {
    let Listing { total, .. } = value(request, "list_files")?;
    let text = format!("{total} files. I count their lines.");
    say(text, [call("count_lines", json!({ "limit": "three" }))])
}

fn mend(request: &ModelRequest) -> Step {
    match last(request, "count_lines") {
        Some(refused) if refused.is_error => {
            say("`limit` must be a number. Once more.", [call("count_lines", json!({ "limit": 3 }))])
        }
        _ => Err(ModelError::Other("the script expected its wrong call to be refused".into())),
    }
}

fn look_closer(request: &ModelRequest) -> Step {
    let count: LineCount = value(request, "count_lines")?;
    let search = call("search_text", json!({ "text": "tool", "limit": 2 }));
    match count.longest.first() {
        Some(file) => {
            let read = call("read_file", json!({ "path": file.path, "lines": 3 }));
            say(format!("The longest is {}. I open it and search.", file.path), [read, search])
        }
        None => say("No text files. I search all the same.", [search]),
    }
}

fn answer(request: &ModelRequest) -> Step {
    let Listing { total, .. } = value(request, "list_files")?;
    let LineCount { text_files, longest, .. } = value(request, "count_lines")?;
    let Matches { occurrences, files, .. } = value(request, "search_text")?;
    let mut answer = format!(
        "{text_files} of the {total} files are text files; `tool` occurs {occurrences} times, in {files} of them."
    );
    if let Some(file) = longest.first() {
        answer += &format!(" The longest is `{}` with {} lines", file.path, file.lines);
        // After the heading comes the file's first line, which may be blank, or no text at all.
        let read = last(request, "read_file").filter(|read| !read.is_error).map(ToolMessage::text);
        if let Some(line) = read.as_deref().and_then(|text| text.lines().nth(1)) {
            answer += &format!("; it begins: {line}");
        }
    }
    say(answer, [])
}

fn say(text: impl Into<String>, calls: impl IntoIterator<Item = ToolCall>) -> Step {
    let tool_calls = calls.into_iter().collect();
    Ok(AssistantMessage { tool_calls, ..AssistantMessage::text(text) }.into())
}

/// A call; the harness gives it an id.
fn call(tool: &str, arguments: Value) -> ToolCall {
    ToolCall::new("", tool, arguments)
}

/// The latest result of a tool.
fn last<'a>(request: &'a ModelRequest, tool: &str) -> Option<&'a ToolMessage> {
    request.messages.iter().rev().filter_map(Message::as_tool).find(|result| result.name.as_str() == tool)
}

/// The latest result of a tool, as the type that the tool returned.
fn value<T: DeserializeOwned>(request: &ModelRequest, tool: &str) -> Result<T, ModelError> {
    let result = last(request, tool).ok_or_else(|| ModelError::Other(format!("`{tool}` was not called")))?;
    result.value.clone().and_then(|value| serde_json::from_value(value).ok()).ok_or_else(|| {
        let text = result.text();
        ModelError::Other(format!("the script cannot go on without a result of `{tool}`; it said: {text}"))
    })
}
