//! What shows how much runs at once: a probe for bodies, a model that follows one script per task, a harness around
//! both, and dice that fall the same way each time.

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tinyagents::Result;
use tinyagents::harness::context::{RunConfig, RunContext, RunLimits, RunPolicy};
use tinyagents::harness::executor::ExecutorBounds;
use tinyagents::harness::message::{AssistantMessage, Message, ToolCall};
use tinyagents::harness::model::{DeltaSink, Model, ModelError, ModelReply, ModelRequest, Usage};
use tinyagents::harness::policy::{ToolPolicy, ToolRuntimePolicy};
use tinyagents::harness::runtime::{AgentHarness, AgentRun, SubAgent};
use tinyagents::harness::tool::{DynTool, Tool, ToolError};
use tinyagents::serde_json::json;
use tokio::time::{sleep, timeout};

use crate::fixture::{Recorder, assert_whole};

/// Longer than any run of a test, and shorter than the time that a run is given: what hangs is not ended by a limit.
pub const TOO_LONG: Duration = Duration::from_secs(24 * 3600);

/// Says what was going on when: `+a +b -a -b` where `b` began before `a` had ended.
#[derive(Clone, Default)]
pub struct Probe(Arc<Mutex<Seen>>);

#[derive(Default)]
struct Seen {
    log: Vec<String>,
    now: u32,
    peak: u32,
}

impl Probe {
    /// Something begins; it ends when what this gives is dropped.
    pub fn enter(&self, what: impl Display) -> Within {
        let mut seen = self.0.lock().unwrap();
        seen.log.push(format!("+{what}"));
        seen.now += 1;
        seen.peak = seen.peak.max(seen.now);
        Within { probe: self.clone(), what: what.to_string() }
    }

    pub fn log(&self) -> String {
        self.0.lock().unwrap().log.join(" ")
    }

    /// The most that went on at once.
    pub fn peak(&self) -> u32 {
        self.0.lock().unwrap().peak
    }

    /// The same since the last time this was asked, while nothing goes on.
    pub fn take_peak(&self) -> u32 {
        let mut seen = self.0.lock().unwrap();
        assert_eq!(seen.now, 0, "something still goes on");
        seen.log.clear();
        std::mem::take(&mut seen.peak)
    }
}

/// Something that goes on.
pub struct Within {
    probe: Probe,
    what: String,
}

impl Drop for Within {
    fn drop(&mut self) {
        let mut seen = self.probe.0.lock().unwrap();
        seen.log.push(format!("-{}", self.what));
        seen.now -= 1;
    }
}

/// A call without arguments.
pub fn call(name: &str, id: &str) -> ToolCall {
    ToolCall::new(id, name, json!({}))
}

/// A call of one of a [`Scene`]'s tools that takes so many milliseconds.
pub fn call_for(ms: u64, name: &str, id: &str) -> ToolCall {
    ToolCall::new(id, name, json!({ "ms": ms }))
}

/// A call of an agent.
pub fn ask(name: &str, task: &str) -> ToolCall {
    ToolCall::new(task, name, json!({ "task": task }))
}

/// Calls named in one word each, `name:id`.
pub fn calls(words: &str) -> AssistantMessage {
    let calls = words.split_whitespace().map(|word| word.split_once(':').expect("name:id"));
    AssistantMessage::calls(calls.map(|(name, id)| call(name, id)))
}

/// A tool that the probe sees for `ms` milliseconds, 10 unless the call says otherwise.
pub fn seen(probe: &Probe, name: &str, policy: ToolPolicy) -> impl Tool<()> + use<> {
    let probe = probe.clone();
    let schema = json!({ "type": "object", "properties": { "ms": { "type": "integer" } } });
    let tool = DynTool::new(name, schema, policy, move |arguments, call| {
        let probe = probe.clone();
        async move {
            let _within = probe.enter(&call.call_id);
            sleep(Duration::from_millis(arguments["ms"].as_u64().unwrap_or(10))).await;
            Ok::<_, ToolError>(format!("{} done", call.call_id))
        }
    });
    tool.with_description("Takes its time.")
}

/// The policy with a bound on calls of the tool side by side.
pub fn at_most(limit: u32, policy: ToolPolicy) -> ToolPolicy {
    policy.with_runtime(ToolRuntimePolicy { max_concurrency: Some(limit), ..Default::default() })
}

/// A model that follows the script of the task it is given: runs side by side do not take each other's replies. After
/// its script, and for a task without one, it answers `TASK answered`.
#[derive(Clone, Default)]
pub struct TaskModel {
    scripts: Arc<Mutex<HashMap<String, Vec<AssistantMessage>>>>,
    requests: Arc<Mutex<Vec<ModelRequest>>>,
    /// Sees the requests.
    pub probe: Probe,
    takes: Duration,
}

impl TaskModel {
    pub fn on(self, task: &str, replies: impl IntoIterator<Item = AssistantMessage>) -> Self {
        self.scripts.lock().unwrap().insert(task.into(), replies.into_iter().collect());
        self
    }

    /// Has each request take a while.
    pub fn taking(mut self, takes: Duration) -> Self {
        self.takes = takes;
        self
    }

    /// The requests of the run with this task.
    pub fn requests(&self, task: &str) -> Vec<ModelRequest> {
        let requests = self.requests.lock().unwrap();
        requests.iter().filter(|request| task_of(request) == task).cloned().collect()
    }

    /// The names of the tools that the first request of a task showed.
    pub fn shown(&self, task: &str) -> Vec<String> {
        let requests = self.requests(task);
        let first = requests.first().unwrap_or_else(|| panic!("nobody was given the task {task}"));
        first.tools.iter().map(|tool| tool.name.clone()).collect()
    }
}

fn task_of(request: &ModelRequest) -> String {
    let task = request.messages.iter().find(|message| matches!(message, Message::User { .. }));
    task.map(Message::text).unwrap_or_default()
}

#[tinyagents::async_trait]
impl Model for TaskModel {
    fn name(&self) -> &str {
        "tasks"
    }

    fn provider(&self) -> &str {
        "tasks"
    }

    async fn generate(&self, request: &ModelRequest, _: &DeltaSink<'_>) -> Result<ModelReply, ModelError> {
        assert_whole(&request.messages);
        let task = task_of(request);
        let _within = self.probe.enter(format!("model:{task}"));
        if !self.takes.is_zero() {
            sleep(self.takes).await;
        }
        self.requests.lock().unwrap().push(request.clone());
        let turn = request.messages.iter().filter(|message| message.as_assistant().is_some()).count();
        let reply = self.scripts.lock().unwrap().get(&task).and_then(|script| script.get(turn).cloned());
        let reply = reply.unwrap_or_else(|| AssistantMessage::text(format!("{task} answered")));
        Ok(ModelReply { usage: Usage { input_tokens: 10, output_tokens: 1 }, ..reply.into() })
    }
}

/// A harness around a [`TaskModel`]: the tools `look` (reads), `act` (may change something) and `tag` (the same, and
/// promoted), all seen by one probe, and a recorder. The outermost run has the task `go`.
pub struct Scene {
    pub harness: AgentHarness<()>,
    pub model: TaskModel,
    pub events: Recorder,
    pub probe: Probe,
}

impl Scene {
    pub fn new(model: TaskModel) -> Self {
        let (events, probe) = (Recorder::default(), Probe::default());
        let mut harness = AgentHarness::new();
        harness.register_model("default", model.clone()).unwrap();
        harness.with_listener(events.listener());
        let scene = Self { harness, model, events, probe: probe.clone() };
        let mut scene = scene
            .policy(RunPolicy::recovering())
            .tool(seen(&probe, "look", ToolPolicy::read_only()))
            .tool(seen(&probe, "act", ToolPolicy::classified()))
            .tool(seen(&probe, "tag", ToolPolicy::classified()));
        scene.harness.promote("tag").unwrap();
        scene
    }

    /// One turn of calls, each `name:id`, and what the probe saw of it.
    pub async fn log_of(words: &str, bounds: ExecutorBounds) -> String {
        let scene = Self::new(TaskModel::default().on("go", [calls(words)])).bounds(bounds);
        scene.run().await.unwrap();
        scene.probe.log()
    }

    pub fn tool(mut self, tool: impl Tool<()> + 'static) -> Self {
        self.harness.register_tool(tool).unwrap();
        self
    }

    pub fn agent(self, agent: SubAgent) -> Self {
        self.tool(agent.into_tool())
    }

    pub fn bounds(mut self, bounds: ExecutorBounds) -> Self {
        self.harness.with_bounds(bounds).unwrap();
        self
    }

    /// Sets the policy, with time without an end where it says nothing else.
    pub fn policy(mut self, mut policy: RunPolicy) -> Self {
        if policy.limits.max_duration == RunLimits::default().max_duration {
            policy.limits.max_duration = 30 * TOO_LONG;
        }
        self.harness.with_policy(policy);
        self
    }

    pub fn limits(self, limits: RunLimits) -> Self {
        self.policy(RunPolicy { limits, ..RunPolicy::recovering() })
    }

    pub async fn run(&self) -> Result<AgentRun> {
        self.run_in(self.harness.context(RunConfig::default(), ())).await
    }

    /// Runs in a context; the outermost run, its transcript and the events are checked to be whole.
    pub async fn run_in(&self, ctx: RunContext<()>) -> Result<AgentRun> {
        let handle = ctx.handle();
        let run =
            timeout(TOO_LONG, self.harness.invoke_in_context(&(), ctx, vec![Message::user("go")])).await;
        let run = run.expect("the run should end");
        assert_whole(&handle.transcript());
        self.events.assert_settled();
        run
    }
}

/// Dice that fall the same way for the same seed.
#[derive(Clone)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `sides`.
    pub fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.roll(from.len() as u64) as usize]
    }
}
