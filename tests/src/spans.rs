//! Spans: where a tool's code runs, it runs inside the span of its call, and that inside the span of its run.
//!
//! The subscriber is the whole program's, because bodies run on threads that know no other. Each test looks only at
//! what its own calls left behind, which it knows by their ids.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use serde_json::json;
use tinyagents::harness::event::FailureKind;
use tinyagents::harness::policy::ToolPolicy;
use tinyagents::harness::tool::ToolError;
use tinyagents::prelude::*;
use tinyagents::testkit::ScriptedModel;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::fixture::{Stage, doing};

type Fields = BTreeMap<String, String>;

#[derive(Debug, Clone)]
struct Seen {
    name: &'static str,
    parent: Option<u64>,
    fields: Fields,
}

#[derive(Default)]
struct Log {
    spans: BTreeMap<u64, Seen>,
    /// Events and the span that each happened in.
    events: Vec<(Option<u64>, Fields)>,
    /// The spans that each thread stands in, the innermost last.
    entered: std::collections::HashMap<std::thread::ThreadId, Vec<u64>>,
}

struct Collector;

fn log() -> MutexGuard<'static, Log> {
    static LOG: OnceLock<Mutex<Log>> = OnceLock::new();
    LOG.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

struct Read<'a>(&'a mut Fields);

impl Visit for Read<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().into(), value.into());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name().into(), format!("{value:?}"));
    }
}

impl Log {
    fn current(&self) -> Option<u64> {
        self.entered.get(&std::thread::current().id())?.last().copied()
    }
}

impl Subscriber for Collector {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let own = module_path!().split("::").next().unwrap();
        [own, "tinyagents"].iter().any(|target| metadata.target().starts_with(target))
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let mut log = log();
        let id = log.spans.len() as u64 + 1;
        let parent = match attributes.parent() {
            Some(parent) => Some(parent.into_u64()),
            None if attributes.is_contextual() => log.current(),
            None => None,
        };
        let mut fields = Fields::new();
        attributes.record(&mut Read(&mut fields));
        log.spans.insert(id, Seen { name: attributes.metadata().name(), parent, fields });
        Id::from_u64(id)
    }

    fn record(&self, id: &Id, values: &Record<'_>) {
        if let Some(span) = log().spans.get_mut(&id.into_u64()) {
            values.record(&mut Read(&mut span.fields));
        }
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::new();
        event.record(&mut Read(&mut fields));
        let mut log = log();
        let place = log.current();
        log.events.push((place, fields));
    }

    fn enter(&self, id: &Id) {
        log().entered.entry(std::thread::current().id()).or_default().push(id.into_u64());
    }

    fn exit(&self, id: &Id) {
        if let Some(entered) = log().entered.get_mut(&std::thread::current().id()) {
            if let Some(at) = entered.iter().rposition(|entered| *entered == id.into_u64()) {
                entered.remove(at);
            }
        }
    }
}

/// A stage whose spans are collected.
fn stage(model: ScriptedModel) -> Stage {
    static COLLECTS: OnceLock<()> = OnceLock::new();
    COLLECTS.get_or_init(|| tracing::subscriber::set_global_default(Collector).unwrap());
    Stage::new(model).tool(Ticks).tool(Thread).tool(at_once())
}

/// The one span of a call.
#[track_caller]
fn of_call(id: &str) -> Seen {
    let mut found = attempts(id);
    assert_eq!(found.len(), 1, "spans of {id}");
    found.remove(0)
}

fn attempts(id: &str) -> Vec<Seen> {
    let log = log();
    let is_it = |span: &&Seen| span.fields.get("gen_ai.tool.call.id").is_some_and(|of| of == id);
    log.spans.values().filter(is_it).cloned().collect()
}

fn parent(span: &Seen) -> Seen {
    log().spans[&span.parent.expect("the span has no parent")].clone()
}

/// The call that a word was logged in, through whatever spans lie between.
fn call_around(word: &str) -> String {
    let log = log();
    let place = log.events.iter().find(|(_, fields)| fields.get("word").is_some_and(|w| w == word));
    let mut place = place.expect("the word was logged").0;
    while let Some(id) = place {
        let span = &log.spans[&id];
        if let Some(call) = span.fields.get("gen_ai.tool.call.id") {
            return call.clone();
        }
        place = span.parent;
    }
    panic!("{word} was logged outside every call");
}

/// Log before and after an await, and in a span of its own.
#[tool(read_only)]
async fn ticks(word: String) -> String {
    tracing::info!(word = format!("{word} before"));
    tokio::task::yield_now().await;
    tracing::info!(word = format!("{word} after"));
    let _within = tracing::info_span!("within").entered();
    tracing::info!(word = format!("{word} within"));
    format!("secret result of {word}")
}

/// Log on a thread of its own.
#[tool(read_only)]
fn thread(word: String) -> String {
    tracing::info!(word = format!("{word} on a thread"));
    format!("secret result of {word}")
}

/// Ends in its first poll.
fn at_once() -> impl Tool<()> {
    doing("at_once", ToolPolicy::read_only(), |call| async move {
        tracing::info!(word = format!("{} at once", call.call_id));
        Ok("secret result".into())
    })
}

fn call(id: &str, name: &str) -> ToolCall {
    ToolCall::new(id, name, json!({ "word": id }))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn g68_parallel_spawned_and_blocking_bodies_stand_in_the_span_of_their_run() {
    let ids = ["g68_a", "g68_b", "g68_c", "g68_d", "g68_e"];
    let names = ["ticks", "thread", "ticks", "thread", "at_once"];
    let calls = ids.iter().zip(names).map(|(id, name)| call(id, name));
    let mut stage = stage(ScriptedModel::new().calls(calls.collect::<Vec<_>>()).text("done"));
    // The run's own span stands in what its caller stands in.
    let outside = tracing::info_span!("g68_outside");
    tracing::Instrument::instrument(async { stage.run().await.unwrap() }, outside).await;
    for (id, name) in ids.into_iter().zip(names) {
        let span = of_call(id);
        let run = parent(&span);
        assert_eq!((span.name, run.name, parent(&run).name), ("execute_tool", "invoke_agent", "g68_outside"));
        assert_eq!(span.fields["otel.name"], format!("execute_tool {name}"));
        assert_eq!(span.fields["gen_ai.operation.name"], "execute_tool");
        assert_eq!(span.fields["gen_ai.tool.name"], name);
        assert_eq!(run.fields["gen_ai.operation.name"], "invoke_agent");
        assert!(!span.fields.contains_key("error.type"), "{span:?}");
    }
    let first = of_call("g68_a").parent;
    assert!(ids.iter().all(|id| of_call(id).parent == first), "one run, one span");
    for (word, id) in [
        ("g68_a before", "g68_a"),
        ("g68_a after", "g68_a"),
        ("g68_a within", "g68_a"),
        ("g68_c after", "g68_c"),
        ("g68_b on a thread", "g68_b"),
        ("g68_d on a thread", "g68_d"),
        ("g68_e at once", "g68_e"),
    ] {
        assert_eq!(call_around(word), id, "{word}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn g68_a_nested_run_stands_in_the_span_of_its_call() {
    let outer = [("g68_n1", "agent"), ("g68_n2", "agent")];
    let outer = outer.map(|(id, name)| ToolCall::new(id, name, json!({ "task": "work" })));
    let mut stage = stage(ScriptedModel::new().calls(outer).text("done"));
    stage.harness.register_tool(SubAgent::new("agent", "Works.").with_model("inner").into_tool()).unwrap();
    // Both nested runs take their replies from one script: whose is whose shows in the spans alone.
    let inner = ScriptedModel::new().calls([call("g68_i1", "ticks"), call("g68_j1", "thread")]);
    let inner = inner.calls([call("g68_i2", "ticks"), call("g68_j2", "thread")]).text("one").text("two");
    let model = OneByOne { inner, turn: tokio::sync::Mutex::new(0) };
    stage.harness.register_model("inner", model).unwrap();
    stage.run().await.unwrap();
    let root = of_call("g68_n1").parent;
    assert_eq!(of_call("g68_n2").parent, root);
    let mut outer = Vec::new();
    for number in [1, 2] {
        let (leaf, thread) = (of_call(&format!("g68_i{number}")), of_call(&format!("g68_j{number}")));
        assert_eq!(leaf.parent, thread.parent);
        let nested = parent(&leaf);
        assert_eq!(nested.name, "invoke_agent");
        let around = parent(&nested);
        assert_eq!((around.name, around.parent), ("execute_tool", root));
        outer.push(around.fields["gen_ai.tool.call.id"].clone());
        for (word, id) in [("after", 'i'), ("on a thread", 'j')] {
            let id = format!("g68_{id}{number}");
            assert_eq!(call_around(&format!("{id} {word}")), id);
        }
    }
    outer.sort();
    assert_eq!(outer, ["g68_n1", "g68_n2"], "each nested run in its own call");
}

/// Has the first two requests, which are of two runs, answered with calls, and the next two with words.
struct OneByOne {
    inner: ScriptedModel,
    turn: tokio::sync::Mutex<u32>,
}

#[tinyagents::async_trait]
impl tinyagents::harness::model::Model for OneByOne {
    fn name(&self) -> &str {
        "one by one"
    }

    fn provider(&self) -> &str {
        "scripted"
    }

    async fn generate(
        &self,
        request: &tinyagents::harness::model::ModelRequest,
        deltas: &tinyagents::harness::model::DeltaSink<'_>,
    ) -> Result<tinyagents::harness::model::ModelReply, tinyagents::harness::model::ModelError> {
        loop {
            let mut turn = self.turn.lock().await;
            // A run that is done with its calls waits until the other has made its own.
            if *turn >= 2 || request.messages.last().is_some_and(|message| message.as_tool().is_none()) {
                *turn += 1;
                return self.inner.generate(request, deltas).await;
            }
            drop(turn);
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn g68_a_failed_call_says_what_kind_of_failure_it_was_and_nothing_of_its_words() {
    let fails = doing("fails", ToolPolicy::default(), |_| async { Err(ToolError::failed("secret words")) });
    let panics = doing("panics", ToolPolicy::default(), |_| async { panic!("secret words") });
    let hangs = doing("hangs", a_second(), |_| std::future::pending());
    let asks = doing("asks", ToolPolicy::default(), |_| async { Err(ToolError::approval("secret words")) });
    let expected = [("fails", "error"), ("panics", "panicked"), ("hangs", "timed_out"), ("asks", "denied")];
    let calls = expected.map(|(name, _)| call(&format!("g68_{name}"), name));
    let mut stage = stage(ScriptedModel::new().calls(calls).text("done"));
    let harness = &mut stage.harness;
    harness.register_tool(fails).unwrap().register_tool(panics).unwrap();
    harness.register_tool(hangs).unwrap().register_tool(asks).unwrap();
    stage.run().await.unwrap();
    let kinds = stage.events.find(|event| match event {
        AgentEvent::ToolFailed { failure, .. } => Some(*failure),
        _ => None,
    });
    let recorded = kinds.iter().map(|kind: &FailureKind| serde_json::to_value(kind).unwrap());
    let recorded: Vec<_> = recorded.map(|kind| kind.as_str().unwrap().to_string()).collect();
    for ((name, kind), recorded) in expected.into_iter().zip(recorded) {
        let span = of_call(&format!("g68_{name}"));
        assert_eq!(span.fields["error.type"], kind);
        assert_eq!(kind, recorded, "the same word as in the events");
        assert_eq!(span.fields["otel.status_code"], "ERROR");
        let all = format!("{:?}", span.fields);
        assert!(!all.contains("secret"), "{all}");
    }
}

fn a_second() -> ToolPolicy {
    let mut policy = ToolPolicy::default();
    policy.runtime.timeout_ms = Some(1_000);
    policy
}

#[tokio::test(start_paused = true)]
async fn g68_every_attempt_has_its_own_span() {
    let mut policy = ToolPolicy::read_only();
    policy.runtime.max_retries = 2;
    let count = crate::fixture::Count::default();
    let tool = doing("retried", policy, move |_| {
        count.add();
        let busy = count.get() < 3;
        async move { if busy { Err(ToolError::transient("busy")) } else { Ok("done".into()) } }
    });
    let mut stage =
        stage(ScriptedModel::new().calls([call("g68_retried", "retried")]).text("done")).tool(tool);
    stage.run().await.unwrap();
    let spans = attempts("g68_retried");
    let errors: Vec<_> = spans.iter().map(|span| span.fields.get("error.type").cloned()).collect();
    assert_eq!(errors, [Some("error".to_string()), Some("error".to_string()), None]);
    assert!(spans.iter().all(|span| parent(span).name == "invoke_agent"));
}

#[tokio::test]
async fn g68_attributes_hold_neither_arguments_nor_results() {
    let ids = ["g68_s1", "g68_s2"];
    let secret = |id: &str, name: &str| ToolCall::new(id, name, json!({ "word": "secret argument" }));
    let calls = [secret(ids[0], "ticks"), secret(ids[1], "thread")];
    stage(ScriptedModel::new().calls(calls).text("secret answer")).run().await.unwrap();
    let allowed = [
        "gen_ai.operation.name",
        "gen_ai.tool.call.id",
        "gen_ai.tool.name",
        "otel.name",
        "gen_ai.request.model",
        "gen_ai.conversation.id",
    ];
    for id in ids {
        let span = of_call(id);
        for (field, value) in span.fields.iter().chain(&parent(&span).fields) {
            assert!(allowed.contains(&field.as_str()), "{field} = {value}");
            assert!(!value.contains("secret"), "{field} = {value}");
        }
    }
}
