//! What one more call allocates, counted: a count does not drift with the machine as a time does.
//!
//! A target of its own, because the counter takes the place of its program's allocator. It counts the allocations of
//! the thread that measures, and a growth of what is allocated as one more.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Mutex;
use std::task::Poll;

use allocation_counter::measure;
use tinyagents::harness::event::EventSink;
use tinyagents::harness::middleware::ToolAllowlist;
use tinyagents::harness::model::{DeltaSink, Model, ModelError, ModelReply, ModelRequest};
use tinyagents::harness::policy::ToolPolicy;
use tinyagents::harness::tool::DynTool;
use tinyagents::prelude::*;
use tinyagents::serde_json::json;

/// The mark for a call that only reads.
const READING: f64 = 12.0;
/// The mark for a call that may change something, which is a segment of its own.
const CHANGING: f64 = 11.0;

/// Says its number.
#[tool(read_only)]
async fn read(number: u32) -> String {
    number.to_string()
}

/// Says its number, and might have changed something.
#[tool]
async fn change(number: u32) -> String {
    number.to_string()
}

/// Hands out replies that were made before, and makes the run wait once at each question. So one poll of the run is
/// one turn: from a parsed reply to the closed turn, and on to the next question.
struct Prepared(Mutex<std::vec::IntoIter<ModelReply>>);

#[tinyagents::async_trait]
impl Model for Prepared {
    fn name(&self) -> &str {
        "prepared"
    }

    fn provider(&self) -> &str {
        "prepared"
    }

    async fn generate(&self, _: &ModelRequest, _: &DeltaSink<'_>) -> Result<ModelReply, ModelError> {
        let mut waited = false;
        poll_fn(|cx| match std::mem::replace(&mut waited, true) {
            true => Poll::Ready(()),
            false => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
        })
        .await;
        Ok(self.0.lock().unwrap().next().unwrap())
    }
}

/// A run of so many turns with so many calls each.
#[derive(Clone, Copy)]
struct Shape {
    tool: &'static str,
    turns: u32,
    calls: u32,
    /// How many tools there are beside the two.
    others: u32,
    /// Whether an allowlist hides the others.
    listed: bool,
}

/// How often each turn of a run allocates; the first entry is the first turn.
fn turns(shape: Shape) -> Vec<u64> {
    let mut counts = polls(shape);
    // The first poll is what comes before the first reply, and the last one the answer after the last turn.
    assert_eq!(counts.len(), shape.turns as usize + 2);
    counts.pop();
    counts.remove(0);
    counts
}

/// How often each poll of a run allocates.
fn polls(shape: Shape) -> Vec<u64> {
    let Shape { tool, turns, calls, others, listed } = shape;
    // Ids and arguments are all distinct: nothing is an echo, and nobody goes in circles.
    let call = |turn: u32, index: u32| {
        ToolCall::new(format!("c{turn}_{index}"), tool, json!({ "number": turn * calls + index }))
    };
    let replies = (0..turns).map(|turn| AssistantMessage::calls((0..calls).map(|index| call(turn, index))));
    let replies: Vec<_> = replies.chain([AssistantMessage::text("done")]).map(ModelReply::from).collect();

    let mut harness: AgentHarness<()> = AgentHarness::new();
    harness.register_model("default", Prepared(Mutex::new(replies.into_iter()))).unwrap();
    harness.register_tool(Read).unwrap().register_tool(Change).unwrap();
    for other in 0..others {
        let name = format!("other_{other}");
        let body = |_, _| async { Ok::<_, ToolError>("never called") };
        harness
            .register_tool(DynTool::new(name, json!({ "type": "object" }), ToolPolicy::read_only(), body))
            .unwrap();
    }
    if listed {
        harness.with_middleware(ToolAllowlist::new(["read", "change"]));
    }
    let limits = RunLimits { max_model_calls: u32::MAX, max_tool_calls: u32::MAX, ..RunLimits::default() };
    harness.with_policy(RunPolicy { limits, ..RunPolicy::default() });

    let mut counts = Vec::with_capacity(turns as usize + 2);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let run = runtime.block_on(async {
        let mut run = pin!(harness.invoke(&(), vec![Message::user("go")]));
        poll_fn(|cx| {
            let mut polled = Poll::Pending;
            let info = measure(|| polled = run.as_mut().poll(cx));
            counts.push(info.count_total);
            polled
        })
        .await
    });
    let results = run.unwrap().messages.iter().filter(|message| message.as_tool().is_some()).count();
    assert_eq!(results, (turns * calls) as usize);
    counts
}

/// How often a turn allocates around a given one, counted from 1.
///
/// The median of eleven turns: the transcript, and what a run remembers of its calls, grow by doubling, so an
/// allocation of theirs falls into one turn and not into its neighbours.
fn around(counts: &[u64], turn: usize) -> u64 {
    let mut window = counts[turn - 6..turn + 5].to_vec();
    window.sort_unstable();
    window[window.len() / 2]
}

/// How often one more call of a turn allocates: the difference between turns of 10 and of 110 calls, by call.
fn one_more(tool: &'static str) -> f64 {
    let shape = Shape { tool, turns: 20, calls: 10, others: 0, listed: false };
    let (few, many) = (around(&turns(shape), 12), around(&turns(Shape { calls: 110, ..shape }), 12));
    (many - few) as f64 / 100.0
}

#[test]
fn one_more_call_that_reads_allocates_at_most_12_times() {
    let count = one_more("read");
    println!("executor_bounds: {count:.2} allocations for one more call");
    assert!(count <= READING, "{count}");
}

#[test]
fn one_more_call_that_changes_something_has_a_bound_too() {
    let count = one_more("change");
    println!("executor_bounds: {count:.2} allocations for one more call that may change something");
    assert!(count <= CHANGING, "{count}");
}

#[test]
fn a_call_allocates_at_turn_1000_what_it_does_at_turn_10() {
    for tool in ["read", "change"] {
        let shape = Shape { tool, turns: 1_005, calls: 1, others: 0, listed: false };
        let (one, eleven) = (turns(shape), turns(Shape { calls: 11, ..shape }));
        let at = |turn| (around(&one, turn), around(&eleven, turn) - around(&one, turn));
        let (early, late) = (at(10), at(1_000));
        println!(
            "executor_bounds: a turn of one `{tool}` allocates {} times, and {:.1} times for each further call",
            late.0,
            late.1 as f64 / 10.0
        );
        assert_eq!(early, late, "at turn 10, at turn 1000");
    }
}

#[test]
fn tools_that_are_not_called_cost_nothing() {
    let shape = Shape { tool: "read", turns: 20, calls: 3, others: 0, listed: false };
    assert_eq!(around(&turns(shape), 12), around(&turns(Shape { others: 50, ..shape }), 12));
}

#[test]
fn tools_that_an_allowlist_hides_cost_nothing() {
    let shape = Shape { tool: "read", turns: 20, calls: 3, others: 0, listed: true };
    let (few, many) = (around(&turns(shape), 12), around(&turns(Shape { others: 50, ..shape }), 12));
    let bare = around(&turns(Shape { listed: false, ..shape }), 12);
    println!(
        "executor_bounds: a turn allocates {bare} times, {few} with an allowlist, {many} if it hides 50 tools"
    );
    // A hook is a boxed future: two around the model, and two around each of three calls.
    assert!(few == many && few <= bare + 8, "{bare} {few} {many}");
}

#[test]
fn the_end_of_a_run_does_not_copy_its_transcript() {
    let end = |turns| polls(Shape { tool: "read", turns, calls: 3, others: 0, listed: false }).pop().unwrap();
    assert_eq!(end(10), end(500));
}

#[test]
fn an_event_that_nobody_hears_is_not_built() {
    let events = EventSink::default();
    let info = measure(|| {
        events.emit_with(|| panic!("nobody hears it"));
    });
    assert_eq!(info.count_total, 0);
}
