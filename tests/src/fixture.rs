//! What many guarantees need to be tried: tools that count, a listener that records, a harness around a script.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use tinyagents::harness::context::{RunConfig, RunContext, RunPolicy};
use tinyagents::harness::event::{AgentEvent, EventRecord, PayloadCapture};
use tinyagents::harness::message::{Message, ProviderRules};
use tinyagents::harness::policy::ToolPolicy;
use tinyagents::harness::runtime::{AgentHarness, AgentRun};
use tinyagents::harness::tool::{CallContext, DynTool, Tool, ToolError};
use tinyagents::serde_json::json;
use tinyagents::testkit::ScriptedModel;
use tinyagents::{Result, TinyAgentsError};

/// Counts how often a body ran.
#[derive(Clone, Default)]
pub struct Count(Arc<AtomicU32>);

impl Count {
    pub fn add(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    pub fn get(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }
}

/// Records events.
#[derive(Clone, Default)]
pub struct Recorder(Arc<Mutex<Vec<EventRecord>>>);

impl Recorder {
    pub fn listener(&self) -> impl Fn(&EventRecord) + Send + Sync + 'static {
        let records = Arc::clone(&self.0);
        move |record: &EventRecord| records.lock().unwrap().push(record.clone())
    }

    pub fn records(&self) -> Vec<EventRecord> {
        self.0.lock().unwrap().clone()
    }

    pub fn kinds(&self) -> Vec<&'static str> {
        self.records().iter().map(|record| record.event.kind()).collect()
    }

    pub fn find<T>(&self, pick: impl Fn(&AgentEvent) -> Option<T>) -> Vec<T> {
        self.records().iter().filter_map(|record| pick(&record.event)).collect()
    }

    /// Checks that every call that was asked for has exactly one terminal event.
    #[track_caller]
    pub fn assert_settled(&self) {
        let requested = self.kinds().iter().filter(|kind| **kind == "tool.requested").count();
        let mut terminal: Vec<_> = self
            .records()
            .iter()
            .filter(|record| record.event.is_terminal())
            .map(|record| (record.run_id.to_string(), record.turn, record.call_index))
            .collect();
        let all = terminal.len();
        terminal.sort();
        terminal.dedup();
        assert_eq!(
            (requested, terminal.len()),
            (all, all),
            "one terminal event per call: {:?}",
            self.kinds()
        );
    }
}

/// `look(q: string, limit?: integer)`: counts, and says what it was asked.
pub fn look(count: &Count) -> impl Tool<()> + use<> {
    let count = count.clone();
    DynTool::new(
        "look",
        json!({
            "type": "object",
            "description": "Look something up.",
            "properties": { "q": { "type": "string" }, "limit": { "type": "integer" } },
            "required": ["q"],
            "additionalProperties": false
        }),
        ToolPolicy::read_only(),
        move |arguments, _| {
            count.add();
            async move { Ok::<_, ToolError>(format!("found {}", arguments["q"].as_str().unwrap_or("nothing"))) }
        },
    )
}

/// A harness around a script, with a recorder. `model`, `events` and `look` (the count) stay visible.
pub struct Stage {
    pub harness: AgentHarness<()>,
    pub model: ScriptedModel,
    pub events: Recorder,
    pub looked: Count,
    handle: Option<tinyagents::harness::context::RunHandle>,
}

impl Stage {
    /// A stage with the tool `look` and the policy `recovering()`.
    pub fn new(model: ScriptedModel) -> Self {
        let (events, looked) = (Recorder::default(), Count::default());
        let mut harness = AgentHarness::new();
        harness.register_model("default", model.clone()).unwrap();
        harness.register_tool(look(&looked)).unwrap();
        harness.with_policy(RunPolicy::recovering());
        harness.with_listener(events.listener()).with_payload_capture(PayloadCapture::On);
        Self { harness, model, events, looked, handle: None }
    }

    pub fn policy(mut self, policy: RunPolicy) -> Self {
        self.harness.with_policy(policy);
        self
    }

    pub fn tool(mut self, tool: impl Tool<()> + 'static) -> Self {
        self.harness.register_tool(tool).unwrap();
        self
    }

    pub async fn run(&mut self) -> Result<AgentRun> {
        let ctx = RunContext::new(RunConfig { run_id: Some("run_1".into()), ..RunConfig::default() }, ());
        self.handle = Some(ctx.handle());
        let run = self.harness.invoke_in_context(&(), ctx, vec![Message::user("go")]).await;
        self.events.assert_settled();
        assert_whole(&self.transcript());
        run
    }

    /// Runs and expects an error.
    pub async fn fails(&mut self) -> TinyAgentsError {
        self.run().await.expect_err("the run should end with an error")
    }

    /// The transcript as the run's handle has it, also after an error.
    pub fn transcript(&self) -> Vec<Message> {
        self.handle.as_ref().expect("run first").transcript().to_vec()
    }
}

/// Checks that every call of a transcript has exactly one result, right after it and in order, and that every provider
/// accepts it.
#[track_caller]
pub fn assert_whole(messages: &[Message]) {
    for rules in ProviderRules::all() {
        assert_eq!(rules.check(messages), Ok(()), "{} refuses {messages:?}", rules.provider);
    }
    let mut rest = messages.iter();
    while let Some(message) = rest.next() {
        assert!(message.as_tool().is_none(), "a result without its call in {messages:?}");
        let calls = message.as_assistant().map(|reply| reply.tool_calls.as_slice()).unwrap_or_default();
        for call in calls {
            let result = rest.next().and_then(Message::as_tool);
            let result = result.unwrap_or_else(|| panic!("call {} has no result in {messages:?}", call.id));
            assert_eq!(result.tool_call_id, call.id, "results stand in call order");
            assert!(!result.text().is_empty(), "a result is never empty");
        }
    }
}

/// The results of a transcript.
pub fn results(messages: &[Message]) -> Vec<&tinyagents::harness::message::ToolMessage> {
    messages.iter().filter_map(Message::as_tool).collect()
}

/// A tool of one name that takes nothing and does `body`.
pub fn doing<F, Fut>(name: &str, policy: ToolPolicy, body: F) -> impl Tool<()> + use<F, Fut>
where
    F: Fn(CallContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<String, ToolError>> + Send + 'static,
{
    DynTool::new(name, json!({ "type": "object" }), policy, move |_, call| body(call))
        .with_description("Does what a test wants.")
}

/// Fails a test that would hang. For a paused clock: it runs on when nothing else can happen.
pub async fn ends<F: Future>(work: F) -> F::Output {
    let day = std::time::Duration::from_secs(24 * 3600);
    tokio::time::timeout(day, work).await.expect("the test hangs")
}

/// A tool that counts its bodies.
pub fn counted(name: &str, policy: ToolPolicy, count: &Count) -> impl Tool<()> + use<> {
    let (count, did) = (count.clone(), format!("{name} did"));
    doing(name, policy, move |_| {
        count.add();
        let did = did.clone();
        async { Ok(did) }
    })
}

/// The texts of a transcript's results.
pub fn texts(messages: &[Message]) -> Vec<String> {
    results(messages).iter().map(|result| result.text()).collect()
}

/// An example of the workspace, in the same target directory and with the same features as `cargo test --workspace`
/// builds it, so that usually nothing is left to build.
pub fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let target = test.ancestors().nth(3).expect("a test lies in TARGET/PROFILE/deps");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into()));
    cargo
        .args(["build", "--workspace", "--example", name, "--message-format=json", "--target-dir"])
        .arg(target)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    // Build scripts of dependencies watch these; what cargo set for this test would build them anew each time.
    let of_this_test = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    for (variable, _) in std::env::vars_os() {
        if variable.to_str().is_some_and(of_this_test) {
            cargo.env_remove(variable);
        }
    }
    let output = cargo.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = output.stdout.split(|byte| *byte == b'\n');
    let messages = lines.filter_map(|line| serde_json::from_slice::<serde_json::Value>(line).ok());
    let mut executables = messages
        .filter(|message| message["target"]["name"] == name)
        .filter_map(|message| message["executable"].as_str().map(PathBuf::from));
    executables.next().expect("cargo says where the example is")
}
