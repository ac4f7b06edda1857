//! No hidden value is in any schema, and none can be forged: every pair of 16 beginnings and 15 ends of a parameter
//! list is a tool, with each type of parameter, each way to leave one out and each kind of injection.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tinyagents::harness::event::AgentEvent;
use tinyagents::harness::message::ToolCall;
use tinyagents::harness::tool::ToolSpec;
use tinyagents::prelude::{AgentHarness, RunConfig, RunPolicy, Tool, ToolState};

use crate::fixture::Recorder;

/// What is borrowed.
#[derive(Clone, ToolState)]
pub struct App {
    index: Index,
    vault: Vault,
}

/// A part.
#[derive(Clone)]
pub struct Index(&'static str);

/// Another part.
#[derive(Clone)]
pub struct Vault(&'static str);

/// What the state and the run hold; it must never be in a schema or a result.
const CANARY: &str = "canary-71ac";

fn app() -> App {
    App { index: Index(CANARY), vault: Vault(CANARY) }
}

/// How many bodies ran. Only `a_forged_argument_is_refused_reported_and_never_used` runs any.
static RAN: AtomicU32 = AtomicU32::new(0);

/// A tool beside what was written in its signature.
struct Made {
    at: &'static str,
    tool: Arc<dyn Tool<App>>,
    spec: &'static ToolSpec,
    parameters: &'static [&'static str],
    /// What the model chooses, each with a value that fits.
    model: Vec<(&'static str, Value)>,
    hidden: Vec<&'static str>,
}

/// Writes a tool for each pair: `model "name" (value) { parameter }` and `hidden "name" { parameter }`.
macro_rules! signatures {
    ($($first:ident $firsts:tt)* ; $lasts:tt) => {
        $(
            mod $first {
                use super::*;
                pair! { $first $firsts $lasts }
            }
        )*

        fn every_signature() -> Vec<Made> {
            [$($first::all()),*].into_iter().flatten().collect()
        }
    };
}

macro_rules! pair {
    ($first:ident $firsts:tt { $($last:ident $keyword:tt $lasts:tt)* }) => {
        $(
            mod $last {
                use super::*;
                use tinyagents::prelude::*;
                one! { concat!(stringify!($first), " ", stringify!($last)), $keyword $firsts $lasts }
            }
        )*

        pub(super) fn all() -> Vec<Made> {
            vec![$($last::made()),*]
        }
    };
}

macro_rules! one {
    (
        $at:expr, ($($keyword:tt)?)
        [$($kind:ident $name:literal $(($value:tt))? { $($param:tt)* })*]
        [$($kinds:ident $names:literal $(($values:tt))? { $($params:tt)* })*]
    ) => {
        /// One of many.
        #[tool(read_only)]
        #[allow(unused_variables, clippy::too_many_arguments, reason = "only the signature matters")]
        $($keyword)? fn tried($($($param)*,)* $($($params)*,)*) -> u32 {
            RAN.fetch_add(1, Ordering::SeqCst)
        }

        pub(in super::super) fn made() -> Made {
            #[allow(unused_mut, reason = "some have no parameters")]
            let mut made = Made {
                at: $at,
                tool: Arc::new(Tried),
                spec: Tried::spec(),
                parameters: Tried::PARAMETERS,
                model: Vec::new(),
                hidden: Vec::new(),
            };
            $(add!(made $kind $name $(($value))?);)*
            $(add!(made $kinds $names $(($values))?);)*
            made
        }
    };
}

macro_rules! add {
    ($made:ident model $name:literal ($value:tt)) => {
        $made.model.push(($name, json!($value)))
    };
    ($made:ident hidden $name:literal) => {
        $made.hidden.push($name)
    };
}

signatures! {
    nothing []
    text [model "a" ("x") { a: String }]
    lent [model "a" ("x") { a: &str }]
    number [model "a" (1) { a: u8 } model "b" (2.5) { b: f64 }]
    optional [model "a" (true) { a: Option<bool> }]
    optional_lent [model "a" ("x") { a: Option<&str> }]
    defaulted [model "a" (3) { #[arg(default = 5)] a: u32 }]
    renamed [model "a-b" ("x") { #[arg(name = "a-b", description = "Not `vault`.")] a: String }]
    raw [model "type" ("x") { r#type: String }]
    list [model "a" (["x"]) { a: Vec<String> } model "b" ([1]) { b: &[u8] }]
    object [model "a" ({ "k": 1 }) { a: std::collections::BTreeMap<String, i64> }]
    state_first [hidden "app" { #[inject] app: &App }]
    part_first [hidden "index" { #[inject] index: &Index } model "a" ("x") { a: String }]
    context_first [hidden "ctx" { #[inject] ctx: &RunContext } model "a" (1) { a: i64 }]
    made_first [hidden "run" { #[inject] run: RunId } hidden "call" { #[inject] call: ToolCallId }]
    between [model "a" (1) { a: i64 } hidden "index" { #[inject] index: &Index } model "b" ("x") { b: &str }]
    ;
    {
        plain () []
        awaited (async) []
        with_text () [model "y" ("x") { y: String }]
        with_lent (async) [model "y" ("x") { y: &str }]
        with_default (async) [model "y" (["x"]) { #[arg(default)] y: Vec<String> }]
        with_option () [model "y" (null) { y: Option<u64> }]
        with_condition (async) [model "y" (true) { #[cfg(all())] y: bool }]
        with_vault (async) [hidden "vault" { #[inject] vault: &Vault }]
        with_vault_and_text () [hidden "vault" { #[inject] vault: &Vault } model "y" ("x") { y: String }]
        with_cancel (async) [hidden "cancel" { #[inject] cancel: CancellationToken }]
        with_events () [hidden "events" { #[inject] events: EventSink } model "y" (1) { y: u8 }]
        with_stores (async) [hidden "stores" { #[inject] stores: StoreRegistry }]
        with_progress (async) [model "y" (1) { #[arg(default = 2)] y: u8 } hidden "progress" { #[inject] progress: Progress }]
        with_thread () [hidden "thread" { #[inject] thread: Option<ThreadId> }]
        with_everything (async) [
            model "y" ("x") { y: &str }
            hidden "vault" { #[inject] vault: &Vault }
            hidden "thread" { #[inject] thread: Option<ThreadId> }
            model "z" ({ "k": [1, 2] }) { #[arg(default)] z: std::collections::BTreeMap<String, Vec<u8>> }
            hidden "cancel" { #[inject] cancel: CancellationToken }
        ]
    }
}

#[test]
fn a_schema_has_the_models_parameters_and_nothing_else() {
    let all = every_signature();
    assert!(all.len() >= 200, "{} signatures", all.len());
    assert_eq!(app().index.0, app().vault.0);
    for made in all {
        let at = made.at;
        let model: Vec<_> = made.model.iter().map(|(name, _)| *name).collect();
        let spec = made.tool.spec();
        assert_eq!(&spec, made.spec, "{at}");
        assert_eq!(made.parameters, model, "{at}");
        let keys: Vec<_> = spec.input_schema["properties"].as_object().unwrap().keys().collect();
        assert_eq!(keys, model, "{at}");
        let required =
            spec.input_schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        assert!(required.iter().all(|name| model.contains(&name.as_str().unwrap())), "{at}: {required:?}");
        assert_eq!(spec.input_schema["additionalProperties"], false, "{at}");
        let listed: Vec<_> = spec.injected.iter().map(|arg| arg.name.as_str()).collect();
        assert_eq!(listed, made.hidden, "{at}");
        // Not even in the words of the schema, except where the author wrote them.
        let shown = serde_json::to_string(&spec.schema()).unwrap().replace("Not `vault`.", "");
        for hidden in &made.hidden {
            assert!(!shown.contains(hidden), "{at}: `{hidden}` in {shown}");
        }
    }
}

/// What a model may write in the place of a hidden value.
fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-z_]{0,8}".prop_map(Value::from),
        Just(json!(CANARY)),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,4}", inner, 0..3).prop_map(|map| json!(map)),
        ]
    })
}

/// One call: whether it failed, its text, and the reported mistakes.
fn call(made: &Made, arguments: Map<String, Value>) -> (bool, String, Vec<(Value, String)>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let events = Recorder::default();
        let mut harness: AgentHarness<App> = AgentHarness::new();
        harness.register_tool(Arc::clone(&made.tool)).unwrap().with_policy(RunPolicy::recovering());
        harness.with_listener(events.listener());
        harness.with_payload_capture(tinyagents::harness::event::PayloadCapture::On);
        let ctx = harness.context(RunConfig::default(), ());
        let call = ToolCall::new("call_1", "tried", Value::Object(arguments));
        let result = harness.call_tool(&app(), ctx, call).await;
        let reported = events.find(|event| match event {
            AgentEvent::InvalidToolArgs { arguments, error, .. } => Some((arguments.clone(), error.clone())),
            _ => None,
        });
        (result.is_error, format!("{:?}", result.content), reported)
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        rng_seed: prop::test_runner::RngSeed::Fixed(7),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_forged_argument_is_refused_reported_and_never_used(
        which in any::<prop::sample::Index>(),
        hidden in any::<prop::sample::Index>(),
        first in any::<bool>(),
        value in anything(),
    ) {
        let mut all = every_signature();
        all.retain(|made| !made.hidden.is_empty());
        let made = which.get(&all);
        let name = *hidden.get(&made.hidden);
        let honest: Map<_, _> = made.model.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();

        let mut forged = honest.clone();
        if first {
            forged.shift_insert(0, name.to_owned(), value);
        } else {
            forged.insert(name.to_owned(), value);
        }
        let before = RAN.load(Ordering::SeqCst);
        let (failed, text, reported) = call(made, forged.clone());
        prop_assert!(failed, "{}: refused", made.at);
        prop_assert!(text.contains(&format!("`{name}`")), "{}: {text}", made.at);
        prop_assert!(!text.contains(CANARY) || forged[name].to_string().contains(CANARY), "{}: {text}", made.at);
        prop_assert_eq!(reported.len(), 1, "{}: reported", made.at);
        prop_assert_eq!(&reported[0].0, &Value::Object(forged), "{}", made.at);
        prop_assert!(reported[0].1.contains(name));
        prop_assert_eq!(RAN.load(Ordering::SeqCst), before, "{}: never used", made.at);

        // The same call without it runs.
        let (failed, text, reported) = call(made, honest);
        prop_assert!(!failed && reported.is_empty(), "{}: {text}", made.at);
        prop_assert_eq!(RAN.load(Ordering::SeqCst), before + 1);
    }
}
