//! What one call costs beside its body: `cargo bench -p tinyagents-tests --bench call`.
//!
//! Each row is printed with its ratio to the floor of the same run, since absolute times drift with the machine: the
//! floor is serde reading the arguments and the function itself.

use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tinyagents::harness::model::{DeltaSink, Model, ModelError, ModelReply, ModelRequest};
use tinyagents::harness::tool::{Validation, Validator};
use tinyagents::prelude::*;

/// Add two numbers.
#[tool(read_only)]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[derive(tinyagents::serde::Deserialize)]
#[serde(crate = "tinyagents::serde")]
struct Pair {
    a: i64,
    b: i64,
}

/// Calls `add` so often, and answers. Unlike a scripted model it keeps nothing: who keeps a request keeps its
/// transcript, which then has to be copied to grow.
struct Adds {
    left: AtomicU32,
    arguments: tinyagents::harness::message::Arguments,
}

#[tinyagents::async_trait]
impl Model for Adds {
    fn name(&self) -> &str {
        "adds"
    }

    fn provider(&self) -> &str {
        "adds"
    }

    async fn generate(&self, _: &ModelRequest, _: &DeltaSink<'_>) -> Result<ModelReply, ModelError> {
        Ok(match self.left.fetch_sub(1, Ordering::Relaxed) {
            0 => AssistantMessage::text("done").into(),
            _ => AssistantMessage::calls([ToolCall::new("c", "add", self.arguments.clone())]).into(),
        })
    }
}

/// The median time of one round.
fn measure(rounds: u32, mut work: impl FnMut()) -> Duration {
    let mut samples: Vec<_> = (0..21)
        .map(|_| {
            let start = Instant::now();
            (0..rounds).for_each(|_| work());
            start.elapsed() / rounds
        })
        .collect();
    samples.sort();
    samples[samples.len() / 2]
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let arguments: Value = json!({ "a": 2, "b": 3 });

    let floor = measure(20_000, || {
        let Pair { a, b } = serde_json::from_value(black_box(&arguments).clone()).unwrap();
        black_box(a + b);
    });
    let row = |name: &str, time: Duration| {
        println!("{name:<44} {time:>10.1?}  {:>6.1} x floor", time.as_secs_f64() / floor.as_secs_f64());
    };
    row("floor: from_value and the call", floor);

    let validator = Validator::compile(&Add::spec().input_schema, Validation::Declared).unwrap();
    row("validate a valid call", measure(20_000, || validator.validate(black_box(&arguments)).unwrap()));

    let mut harness: AgentHarness<()> = AgentHarness::new();
    harness.register_tool(Add).unwrap();
    let state = std::sync::Arc::new(());
    let one = measure(2_000, || {
        let call = ToolCall::new("c", "add", arguments.clone());
        let ctx = harness.context(RunConfig::default(), ());
        black_box(runtime.block_on(harness.call_tool(state.clone(), ctx, call)));
    });
    row("one call through hooks, validation and policy", one);

    for turns in [10, 100, 1_000] {
        let per_turn = measure(1, || {
            let model = Adds { left: AtomicU32::new(turns), arguments: arguments.clone().into() };
            let limits =
                RunLimits { max_model_calls: u32::MAX, max_tool_calls: u32::MAX, ..RunLimits::default() };
            let mut harness: AgentHarness<()> = AgentHarness::new();
            harness.register_model("default", model).unwrap().register_tool(Add).unwrap();
            harness.with_policy(RunPolicy { limits, ..RunPolicy::default() });
            black_box(runtime.block_on(harness.invoke(state.clone(), vec![Message::user("go")])).unwrap());
        }) / turns;
        row(&format!("one turn of a run of {turns}"), per_turn);
    }
}
