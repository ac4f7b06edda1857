//! Random turns over a world of keys and values do what their calls would do one by one, while calls overlap.
//!
//! Guarantee: without promoted and nested calls a turn's results, and the world it leaves, are those of its calls run
//! one after another in the order in which the model wrote them. Each reading body looks at the world twice and each
//! changing one reads before it writes, so an overlap that should not be shows. Not here: which calls overlap
//! (`concurrency`).

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tinyagents::harness::context::{RunConfig, RunLimits, RunPolicy};
use tinyagents::harness::executor::ExecutorBounds;
use tinyagents::harness::message::{Arguments, AssistantMessage, Message, ToolCall};
use tinyagents::harness::model::{DeltaSink, Model, ModelError, ModelReply, ModelRequest};
use tinyagents::harness::policy::ToolPolicy;
use tinyagents::harness::runtime::AgentHarness;
use tinyagents::harness::tool::{DynTool, Tool, ToolError};
use tinyagents::serde_json::{Value, json};

use crate::fixture::{assert_whole, results};
use crate::probes::{Dice, Probe, TOO_LONG};

const KEYS: [&str; 3] = ["a", "b", "c"];

type World = BTreeMap<String, i64>;

/// What a body does while others might run.
#[derive(Debug, Clone, Copy)]
enum Pause {
    Sleep,
    Yield,
}

impl Pause {
    async fn take(self, arguments: &Value, when: &str) {
        let ticks = arguments[when].as_u64().unwrap_or(0);
        match self {
            Self::Sleep => tokio::time::sleep(Duration::from_millis(ticks)).await,
            Self::Yield => {
                for _ in 0..ticks % 4 {
                    tokio::task::yield_now().await;
                }
            }
        }
    }
}

/// A call as one step of plain code.
fn do_alone(world: &mut World, name: &str, arguments: &Value) -> String {
    let key = arguments["key"].as_str().unwrap_or_default();
    let value = arguments["value"].as_i64().unwrap_or_default();
    match name {
        "get" => format!("{key} is {:?}, and {:?}", world.get(key), world.get(key)),
        "sum" => format!("{} and {}", world.values().sum::<i64>(), world.values().sum::<i64>()),
        "put" => format!("{key} was {:?}", world.insert(key.into(), value)),
        _ => {
            let bumped = world.get(key).copied().unwrap_or_default() + value;
            world.insert(key.into(), bumped);
            format!("{key} is {bumped} now")
        }
    }
}

fn schema(name: &str) -> Value {
    let (key, value) = (json!({ "type": "string" }), json!({ "type": "integer" }));
    let required: &[&str] = match name {
        "sum" => &[],
        "get" => &["key"],
        _ => &["key", "value"],
    };
    // Every call also says how long it pauses.
    let properties = json!({ "key": key, "value": value });
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": true })
}

/// The same as a tool that pauses before it touches the world and between its two touches.
fn tool(name: &'static str, world: &Arc<Mutex<World>>, probe: &Probe, pause: Pause) -> impl Tool<()> + use<> {
    let (world, probe) = (Arc::clone(world), probe.clone());
    let reads = matches!(name, "get" | "sum");
    let policy = if reads { ToolPolicy::read_only() } else { ToolPolicy::classified() };
    let body = move |arguments: Arguments, _| {
        let (world, probe) = (Arc::clone(&world), probe.clone());
        async move {
            let _within = probe.enter(name);
            pause.take(&arguments, "before").await;
            let key = arguments["key"].as_str().unwrap_or_default();
            let value = arguments["value"].as_i64().unwrap_or_default();
            let get = || world.lock().unwrap().get(key).copied();
            let sum = || world.lock().unwrap().values().sum::<i64>();
            let (first_value, first_sum) = (get(), sum());
            pause.take(&arguments, "after").await;
            Ok::<_, ToolError>(match name {
                "get" => format!("{key} is {:?}, and {:?}", first_value, get()),
                "sum" => format!("{first_sum} and {}", sum()),
                "put" => {
                    world.lock().unwrap().insert(key.into(), value);
                    format!("{key} was {first_value:?}")
                }
                _ => {
                    let bumped = first_value.unwrap_or_default() + value;
                    world.lock().unwrap().insert(key.into(), bumped);
                    format!("{key} is {bumped} now")
                }
            })
        }
    };
    DynTool::new(name, schema(name), policy, body).with_description("Touches the world.")
}

/// What is expected of one call: this text, or an error that begins so.
#[derive(Debug)]
struct Expected {
    text: String,
    is_error: bool,
}

/// A turn, and what its calls come to one by one.
struct Turn {
    calls: Vec<ToolCall>,
    expected: Vec<Expected>,
    /// Whether two calls that read stand next to each other, but for those that run nothing.
    neighbours: bool,
}

fn random_call(dice: &mut Dice) -> ToolCall {
    let id = *dice.pick(&["", "x", "y", "z"]);
    let name = *dice.pick(&["get", "get", "get", "sum", "sum", "put", "bump", "bump", "nope"]);
    // A body takes at least a millisecond, so that neighbours must overlap.
    let (before, after) = (dice.roll(51), 1 + dice.roll(50));
    let mut arguments = json!({ "before": before, "after": after });
    if name != "sum" {
        arguments["key"] = (*dice.pick(&KEYS)).into();
        arguments["value"] = dice.roll(100).into();
    }
    match dice.roll(20) {
        0 => arguments["key"] = json!(7),
        1 => return ToolCall::from_text(id, name, "{\"key\": \"a\", \"val"),
        _ => {}
    }
    ToolCall::new(id, name, arguments)
}

fn random_turn(dice: &mut Dice, world: &mut World) -> Turn {
    let mut calls: Vec<ToolCall> = Vec::new();
    let (mut expected, mut neighbours, mut read_before) = (Vec::new(), false, false);
    for _ in 0..1 + dice.roll(7) {
        let call = match calls.last() {
            Some(last) if dice.roll(12) == 0 => last.clone(), // a stream that sends a call twice
            _ => random_call(dice),
        };
        let same = |earlier: &ToolCall| {
            (&earlier.id, &earlier.name, &earlier.arguments) == (&call.id, &call.name, &call.arguments)
        };
        let refused = if call.id.as_str() != "" && calls.iter().any(same) {
            Some("error: not executed again")
        } else if call.name == "nope" {
            Some("error: unknown tool `nope`")
        } else if call.invalid.is_some() {
            Some("error: not executed")
        } else if call.arguments["key"].is_number() {
            Some("error: invalid arguments")
        } else {
            None
        };
        expected.push(match refused {
            Some(begin) => Expected { text: begin.into(), is_error: true },
            None => {
                let reads = matches!(call.name.as_str(), "get" | "sum");
                neighbours |= reads && read_before;
                read_before = reads;
                Expected { text: do_alone(world, &call.name, &call.arguments), is_error: false }
            }
        });
        calls.push(call);
    }
    Turn { calls, expected, neighbours }
}

/// Replies with one turn after the other, and notes how much overlapped in the one before.
struct Turns {
    replies: Mutex<VecDeque<AssistantMessage>>,
    probe: Probe,
    peaks: Arc<Mutex<Vec<u32>>>,
}

#[tinyagents::async_trait]
impl Model for Turns {
    fn name(&self) -> &str {
        "turns"
    }

    fn provider(&self) -> &str {
        "turns"
    }

    async fn generate(&self, _: &ModelRequest, _: &DeltaSink<'_>) -> Result<ModelReply, ModelError> {
        self.peaks.lock().unwrap().push(self.probe.take_peak());
        let reply = self.replies.lock().unwrap().pop_front();
        Ok(reply.unwrap_or_else(|| AssistantMessage::text("done")).into())
    }
}

/// Runs random turns and compares them; gives for each turn the peak overlap and whether calls that read stood
/// together.
async fn compare(seed: u64, count: usize, pause: Pause, bounds: ExecutorBounds) -> Vec<(u32, bool)> {
    let (mut dice, mut world) = (Dice::new(seed), World::new());
    let turns: Vec<Turn> = (0..count).map(|_| random_turn(&mut dice, &mut world)).collect();
    let (shared, probe, peaks) = (Arc::default(), Probe::default(), Arc::default());
    let replies = turns.iter().map(|turn| AssistantMessage::calls(turn.calls.iter().cloned())).collect();
    let model = Turns { replies: Mutex::new(replies), probe: probe.clone(), peaks: Arc::clone(&peaks) };
    let mut harness: AgentHarness<()> = AgentHarness::new();
    harness.register_model("default", model).unwrap().with_bounds(bounds).unwrap();
    for name in ["get", "sum", "put", "bump"] {
        harness.register_tool(tool(name, &shared, &probe, pause)).unwrap();
    }
    let limits = RunLimits {
        max_model_calls: u32::MAX,
        max_tool_calls: u32::MAX,
        max_duration: 30 * TOO_LONG,
        repeat_notice: u32::MAX,
        max_repeats: u32::MAX,
        ..RunLimits::default()
    };
    harness.with_policy(RunPolicy { limits, ..RunPolicy::recovering() });
    let ctx = harness.context(RunConfig::default(), ());
    let run = harness.invoke_in_context(&(), ctx, vec![Message::user("go")]);
    let patience = match pause {
        Pause::Sleep => TOO_LONG,
        Pause::Yield => Duration::from_secs(60), // that clock is a real one
    };
    let run = tokio::time::timeout(patience, run).await;
    let run = run.unwrap_or_else(|_| panic!("seed {seed} hangs")).unwrap();
    assert_whole(&run.messages);
    let mut results = results(&run.messages).into_iter();
    for (number, turn) in turns.iter().enumerate() {
        for (index, (call, expected)) in turn.calls.iter().zip(&turn.expected).enumerate() {
            let result = results.next().expect("a result for each call");
            let text = result.text();
            let same = match expected.is_error {
                true => text.starts_with(&expected.text),
                false => text == expected.text,
            };
            assert!(
                same && result.is_error == expected.is_error,
                "seed {seed}, turn {number}, call {index}: {call:?} gave {text:?} and not {expected:?}"
            );
        }
    }
    assert!(results.next().is_none(), "seed {seed}: more results than calls");
    assert_eq!(*shared.lock().unwrap(), world, "seed {seed}: the world");
    let peaks = peaks.lock().unwrap().split_off(1); // before the first turn there is none
    peaks.into_iter().zip(&turns).map(|(peak, turn)| (peak, turn.neighbours)).collect()
}

#[tokio::test(start_paused = true)]
async fn random_turns_do_what_their_calls_do_one_by_one() {
    let (mut turns, mut most, mut with_neighbours) = (0, 0, 0);
    for seed in 0..20 {
        for (number, (peak, neighbours)) in
            compare(seed, 500, Pause::Sleep, ExecutorBounds::default()).await.into_iter().enumerate()
        {
            let at = format!("seed {seed}, turn {number}: {peak} at once");
            match neighbours {
                true => assert!(peak >= 2, "{at}: two calls that read stand together"),
                false => assert!(peak <= 1, "{at}: no two calls that read stand together"),
            }
            (turns, most) = (turns + 1, most.max(peak));
            with_neighbours += u32::from(neighbours);
        }
    }
    println!(
        "oracle: {turns} turns, peak overlap {most}, {with_neighbours} turns with two neighbouring reads"
    );
    assert_eq!(turns, 10_000);
    assert!(with_neighbours > 1_000 && with_neighbours < 9_000, "the turns are of both kinds");
}

#[tokio::test(start_paused = true)]
async fn with_one_call_at_a_time_they_do_the_same_and_nothing_overlaps() {
    let bounds = ExecutorBounds { max_parallel: 1, ..ExecutorBounds::default() };
    for seed in 0..4 {
        let turns = compare(seed, 500, Pause::Sleep, bounds.clone()).await;
        assert!(turns.iter().all(|(peak, _)| *peak <= 1), "seed {seed}");
        assert!(turns.iter().any(|(_, neighbours)| *neighbours), "seed {seed} had what could overlap");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_several_threads_they_do_the_same() {
    for seed in 100..110 {
        compare(seed, 60, Pause::Yield, ExecutorBounds::default()).await;
    }
}
