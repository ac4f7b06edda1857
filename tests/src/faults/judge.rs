//! What the events of a run must say, held against its transcript.

use std::collections::HashMap;
use std::sync::Arc;

use tinyagents::harness::event::{AgentEvent, Effects, EventRecord};
use tinyagents::harness::id::RunId;
use tinyagents::harness::message::Message;

/// How often each event of a run, a turn or a call was sent.
#[derive(Default)]
struct Counts(HashMap<&'static str, usize>);

impl Counts {
    fn of(&self, kind: &str) -> usize {
        self.0.get(kind).copied().unwrap_or_default()
    }
}

/// Everything that begins has one end, nothing else has one, and what the model reads is what the events say.
pub fn events(records: &[EventRecord], transcripts: &HashMap<RunId, Arc<Vec<Message>>>) -> Vec<String> {
    let mut problems = Vec::new();
    let mut counts: HashMap<(RunId, Option<u32>, Option<u32>), Counts> = HashMap::new();
    for record in records {
        let kind = record.event.kind();
        let place = match kind {
            "run.started" | "run.completed" | "run.failed" => (record.run_id.clone(), None, None),
            _ => (record.run_id.clone(), Some(record.turn), record.call_index),
        };
        *counts.entry(place.clone()).or_default().0.entry(kind).or_default() += 1;
        let mut ended = |by: &[&'static str]| {
            let counts = &counts[&place];
            if by.iter().map(|kind| counts.of(kind)).sum::<usize>() > usize::from(by.contains(&kind)) {
                problems.push(format!("{place:?}: {kind} after the end"));
            }
        };
        match kind {
            "tool.blocking" | "tool.progress" | "custom" => {}
            _ if place.2.is_some() => ended(&["tool.completed", "tool.failed"]),
            _ if place.1.is_some() => ended(&["turn.closed"]),
            _ => ended(&["run.completed", "run.failed"]),
        }
        if let AgentEvent::ToolFailed { call_id, effects, failure, .. } = &record.event {
            let transcript = transcripts.get(&record.run_id);
            let mut results =
                transcript.iter().flat_map(|messages| messages.iter()).filter_map(Message::as_tool);
            let Some(result) = results.find(|result| result.tool_call_id == *call_id) else {
                problems.push(format!("{call_id} failed ({failure}), and has no result"));
                continue;
            };
            let text = result.text();
            let says = match effects {
                Effects::None => ["not executed", "nothing was executed", "not executed again"].as_slice(),
                Effects::Unknown => ["unknown"].as_slice(),
                _ => [""].as_slice(),
            };
            if !result.is_error || !says.iter().any(|says| text.contains(says)) {
                problems.push(format!("{call_id} failed ({failure}, {effects}), and its result is: {text}"));
            }
        }
    }
    for (place, counts) in &counts {
        let pairs: &[(&str, &[&str])] = &[
            ("tool.requested", &["tool.completed", "tool.failed"]),
            ("turn.opened", &["turn.closed"]),
            ("run.started", &["run.completed", "run.failed"]),
        ];
        for (begin, ends) in pairs {
            let (begun, ended) = (counts.of(begin), ends.iter().map(|end| counts.of(end)).sum::<usize>());
            if begun != ended || begun > 1 {
                problems.push(format!("{place:?}: {begin} {begun} times, and {ended} ends"));
            }
        }
        if counts.of("tool.started") > counts.of("tool.requested") {
            problems.push(format!("{place:?}: started {} times", counts.of("tool.started")));
        }
    }
    problems
}
