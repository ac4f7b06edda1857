//! What one call costs beside its body: `cargo bench -p tinyagents-tests --bench call`.
//!
//! Times are of the processor, since others may use the machine too. They drift with it all the same, so each row is
//! printed with its ratio to the floor of the same run: serde reading the arguments, and the function itself. A row of
//! the whole loop is the difference between two runs, taken in turns. Nobody listens, and the model's replies were made
//! before the clock starts.

use std::hint::black_box;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cpu_time::ThreadTime;
use serde_json::{Value, json};
use tinyagents::harness::context::RunContext;
use tinyagents::harness::event::{AgentEvent, EventSink};
use tinyagents::harness::middleware::{Middleware, ToolGate};
use tinyagents::harness::model::{DeltaSink, Model, ModelError, ModelReply, ModelRequest};
use tinyagents::harness::policy::ToolPolicy;
use tinyagents::harness::tool::{DynTool, Validation, Validator};
use tinyagents::prelude::*;
use tokio::runtime::Runtime;

/// Add two numbers.
#[tool(read_only)]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Say a number.
#[tool(read_only)]
async fn say(a: i64, b: i64) -> String {
    (a + b).to_string()
}

/// Say a number, and perhaps change something.
#[tool]
async fn change(a: i64, b: i64) -> String {
    (a + b).to_string()
}

#[derive(tinyagents::serde::Deserialize)]
#[serde(crate = "tinyagents::serde")]
struct Pair {
    a: i64,
    b: i64,
}

/// Gives replies that were made before. Unlike a scripted model it keeps nothing: who keeps a request keeps its
/// transcript, which then has to be copied to grow.
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
        Ok(self.0.lock().unwrap().next().unwrap())
    }
}

/// Looks at every call, and lets only those of known tools through.
struct Strict;

#[tinyagents::async_trait]
impl Middleware<()> for Strict {
    async fn before_tool(&self, _: &RunContext, _: &(), call: &mut ToolCall) -> tinyagents::Result<ToolGate> {
        match call.name.as_str() {
            "add" | "say" | "change" => Ok(ToolGate::Proceed),
            _ => Ok(ToolGate::reject("the tool is not known")),
        }
    }
}

/// A run through the whole loop.
#[derive(Clone, Copy)]
struct Run {
    tool: &'static str,
    turns: u32,
    /// How many calls a turn has.
    calls: u32,
    /// How many tools there are beside those that are called.
    others: u32,
    strict: bool,
}

impl Run {
    const fn of(tool: &'static str, turns: u32, calls: u32) -> Self {
        Self { tool, turns, calls, others: 0, strict: false }
    }

    /// The replies: every call has its own id and arguments.
    fn replies(self) -> Prepared {
        let call = |turn, index| {
            let arguments = json!({ "a": turn * self.calls + index, "b": 3 });
            ToolCall::new(format!("call_{turn}_{index}"), self.tool, arguments)
        };
        let turns = (0..self.turns)
            .map(|turn| AssistantMessage::calls((0..self.calls).map(|index| call(turn, index))).into());
        let answer = || std::iter::once(AssistantMessage::text("done").into());
        let replies: Vec<_> = answer().chain(turns).chain(answer()).collect();
        Prepared(Mutex::new(replies.into_iter()))
    }

    /// How long it takes from the first question to the answer.
    fn time(self, runtime: &Runtime) -> Duration {
        let mut harness: AgentHarness<()> = AgentHarness::new();
        harness.register_model("default", self.replies()).unwrap();
        harness.register_tool(Add).unwrap().register_tool(Say).unwrap().register_tool(Change).unwrap();
        for other in 0..self.others {
            let schema = json!({ "type": "object", "properties": { "text": { "type": "string" } } });
            let body = |_, _| async { Ok::<_, ToolError>("never called") };
            let tool = DynTool::new(format!("other_{other}"), schema, ToolPolicy::read_only(), body);
            harness.register_tool(tool).unwrap();
        }
        if self.strict {
            harness.with_middleware(Strict);
        }
        let limits =
            RunLimits { max_model_calls: u32::MAX, max_tool_calls: u32::MAX, ..RunLimits::default() };
        harness.with_policy(RunPolicy { limits, ..RunPolicy::default() });
        // What the provider is shown is worked out in the first run, for all.
        runtime.block_on(harness.invoke(&(), vec![Message::user("hello")])).unwrap();
        let messages = vec![Message::user("go")];
        let start = ThreadTime::now();
        let run = runtime.block_on(harness.invoke(&(), messages)).unwrap();
        let time = start.elapsed();
        assert_eq!(run.messages.len() as u32, 2 + self.turns * (1 + self.calls));
        time
    }
}

fn median<T: Ord + Copy>(mut samples: Vec<T>) -> T {
    samples.sort();
    samples[samples.len() / 2]
}

/// The median time of one round.
fn measure(rounds: u32, mut work: impl FnMut()) -> Duration {
    let sample = || {
        let start = ThreadTime::now();
        (0..rounds).for_each(|_| work());
        start.elapsed() / rounds
    };
    median(std::iter::repeat_with(sample).take(21).collect())
}

/// The median of what one run takes longer than another, in nanoseconds.
fn more(runtime: &Runtime, more: Run, less: Run) -> f64 {
    let sample = || {
        let (less, more) = (less.time(runtime), more.time(runtime));
        more.as_nanos() as i64 - less.as_nanos() as i64
    };
    median(std::iter::repeat_with(sample).take(41).collect()) as f64
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let arguments: Value = json!({ "a": 2, "b": 3 });

    let floor = measure(20_000, || {
        let Pair { a, b } = serde_json::from_value(black_box(&arguments).clone()).unwrap();
        black_box(a + b);
    });
    let floor = floor.as_nanos() as f64;
    let row = |name: &str, nanos: f64| println!("{name:<58} {nanos:>9.1} ns  {:>6.1} x floor", nanos / floor);
    let nanos = |time: Duration| time.as_secs_f64() * 1e9;
    row("floor: from_value and the call", floor);

    let validator = Validator::compile(&Add::spec().input_schema, Validation::Declared).unwrap();
    let validate = measure(20_000, || validator.validate(black_box(&arguments)).unwrap());
    row("validate a valid call", nanos(validate));

    let events = EventSink::default();
    let event = measure(1_000_000, || {
        black_box(&events).emit_with(|| AgentEvent::ToolProgress { message: "nobody hears it".into() });
    });
    row("an event with no listener", nanos(event));

    let mut harness: AgentHarness<()> = AgentHarness::new();
    harness.register_tool(Add).unwrap();
    let state = Arc::new(());
    let one = measure(2_000, || {
        let call = ToolCall::new("c", "add", arguments.clone());
        let ctx = harness.context(RunConfig::default(), ());
        black_box(runtime.block_on(harness.call_tool(state.clone(), ctx, call)));
    });
    row("one call without a loop, its context included", nanos(one));

    for tool in ["say", "change", "add"] {
        let (few, many) = (Run::of(tool, 20, 10), Run::of(tool, 20, 100));
        let one = more(&runtime, many, few) / f64::from(20 * 90);
        row(&format!("one more call of `{tool}` in a turn (10 -> 100 calls)"), one);
    }

    let plain = Run::of("say", 20, 50);
    let strict = more(&runtime, Run { strict: true, ..plain }, plain) / f64::from(20 * 50);
    row("a strict hook, a call", strict);

    let plain = Run::of("say", 200, 1);
    let tools = more(&runtime, Run { others: 49, ..plain }, plain) / 200.0;
    row("49 more tools that are not called, a turn", tools);

    for turns in [10, 100, 1_000] {
        let run = Run::of("say", turns, 1);
        let times: Vec<_> = (0..41).map(|_| run.time(&runtime)).collect();
        row(&format!("a turn of a run of {turns}"), nanos(median(times)) / f64::from(turns));
    }
}
