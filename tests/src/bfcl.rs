//! Real tool declarations, and calls that models are expected to make of them: the Berkeley Function-Calling
//! Leaderboard.
//!
//! Every declaration is registered, every expected call runs, every call that breaks its declaration is refused, and
//! the `jsonschema` crate sees the same mistakes at the same places.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use jsonschema::error::ValidationErrorKind;
use serde_json::{Map, Value, json};
use tinyagents::harness::context::ArgumentRepair;
use tinyagents::harness::message::{Message, ToolCall};
use tinyagents::harness::policy::ToolPolicy;
use tinyagents::harness::tool::dialect::SchemaDialect;
use tinyagents::harness::tool::{Arguments, DynTool, Tool, ToolError, Validation, Validator};
use tinyagents::prelude::*;
use tinyagents::testkit::ScriptedModel;

use crate::fixture::{assert_whole, results};
use crate::names::Of;

/// A file of the corpus, one value a line, or the extract that is kept beside the tests.
fn lines(file: &str) -> Vec<Value> {
    let whole = format!("{}/../../shared/corpora/bfcl/{file}", env!("CARGO_MANIFEST_DIR"));
    let extract = format!("{}/data/bfcl/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(whole).unwrap_or_else(|_| {
        println!("{file}: the corpus is not beside the repository; running the extract");
        std::fs::read_to_string(&extract).unwrap_or_else(|error| panic!("{extract}: {error}"))
    });
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// What the bodies were called with.
type Seen = Arc<Mutex<Vec<Value>>>;

fn tool(function: &Value, seen: &Seen) -> impl Tool<()> + use<> {
    let seen = Arc::clone(seen);
    DynTool::new(
        text(&function["orig_name"]),
        function["parameters"].clone(),
        ToolPolicy::read_only(),
        move |arguments: Arguments, _| {
            seen.lock().unwrap().push((*arguments).clone());
            async { Ok::<_, ToolError>("done") }
        },
    )
    .with_description(text(&function["description"]))
}

fn functions() -> BTreeMap<String, Value> {
    lines("functions.jsonl").into_iter().map(|line| (text(&line["fid"]).to_owned(), line)).collect()
}

/// One expected call: where it stands, what it calls, with what, and whether it breaks the declaration.
struct Expected {
    case: String,
    parameters: Value,
    name: String,
    minimal: Value,
    full: Option<Value>,
    broken: bool,
}

fn expected(functions: &BTreeMap<String, Value>) -> Vec<Expected> {
    let mut all = Vec::new();
    for case in lines("cases.jsonl") {
        let tools: Vec<_> =
            case["tools"].as_array().unwrap().iter().map(|fid| &functions[text(fid)]).collect();
        for call in case["expected"].as_array().unwrap() {
            let function = tools.iter().find(|function| function["name"] == call["name"]).unwrap();
            all.push(Expected {
                case: text(&case["id"]).to_owned(),
                parameters: function["parameters"].clone(),
                name: text(&call["name"]).to_owned(),
                minimal: call["arguments"].clone(),
                full: call.get("arguments_full").cloned(),
                broken: call.get("schema_error").is_some(),
            });
        }
    }
    all
}

/// The paths at which this library and the `jsonschema` crate see a mistake.
fn mistakes(parameters: &Value, arguments: &Value) -> (BTreeSet<String>, BTreeSet<String>) {
    let own = Validator::compile(parameters, Validation::Subset).unwrap();
    let own = own.validate(arguments).err().unwrap_or_default();
    let other = jsonschema::validator_for(parameters).unwrap();
    let other = other.iter_errors(arguments).flat_map(|error| {
        let at = error.instance_path().to_string();
        // That crate reports a property that is missing or unknown at its object.
        match error.kind() {
            ValidationErrorKind::Required { property } => vec![at + &pointer(text(property))],
            ValidationErrorKind::AdditionalProperties { unexpected } => {
                unexpected.iter().map(|name| at.clone() + &pointer(name)).collect()
            }
            _ => vec![at],
        }
    });
    (own.into_iter().map(|problem| problem.path).collect(), other.collect())
}

/// One step of a JSON Pointer.
fn pointer(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// Equal as numbers: `5.0` is `5`.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

#[test]
fn every_declaration_of_bfcl_registers() {
    let (mut registered, mut renamed, mut refused) = (0, 0, Vec::new());
    let seen = Seen::default();
    let functions = functions();
    for function in functions.values() {
        let name = text(&function["orig_name"]);
        let mut harness: AgentHarness<()> = AgentHarness::new();
        if let Err(error) = harness.register_external(tool(function, &seen)) {
            refused.push(format!("{name}: {error}"));
            continue;
        }
        assert_eq!(harness.tools().spec(name).unwrap().input_schema, function["parameters"]);
        // The corpus has the name that OpenAI takes beside the real one.
        let shown = harness.explain(&SchemaDialect::openai()).tools.remove(0).shown_as;
        assert_eq!(shown, text(&function["name"]));
        renamed += usize::from(shown != name);
        registered += 1;
    }
    println!("functions: {registered} registered, {renamed} of them renamed, {} refused", refused.len());
    assert_eq!(refused, Vec::<String>::new());
    assert_eq!(registered, functions.len());
}

/// Whether an object that declares its fields has another one.
fn undeclared(schema: &Value, value: &Value) -> bool {
    match (value, schema["properties"].as_object()) {
        (Value::Object(fields), Some(declared)) => fields
            .iter()
            .any(|(name, value)| declared.get(name).is_none_or(|schema| undeclared(schema, value))),
        (Value::Array(items), _) => items.iter().any(|item| undeclared(&schema["items"], item)),
        _ => false,
    }
}

#[tokio::test]
async fn every_expected_call_of_bfcl_runs_and_every_broken_one_is_refused() {
    let functions = functions();
    let (mut ran, mut refused, mut undeclared_calls, mut cases, mut tools) = (0, 0, 0, 0, 0);
    for case in lines("cases.jsonl") {
        let seen = Seen::default();
        let mut harness: AgentHarness<()> = AgentHarness::new();
        for fid in case["tools"].as_array().unwrap() {
            harness.register_external(tool(&functions[text(fid)], &seen)).unwrap();
            tools += 1;
        }
        let (mut calls, mut sound) = (Vec::new(), Vec::new());
        for call in case["expected"].as_array().unwrap() {
            for arguments in ["arguments", "arguments_full"].iter().filter_map(|key| call.get(*key)) {
                // The maximal form of a broken call need not be broken, and the other way round.
                let whole = call.get("schema_error").is_none();
                // By the name that OpenAI is shown.
                calls.push(ToolCall::new(
                    format!("c{}", calls.len()),
                    text(&call["name"]),
                    arguments.clone(),
                ));
                sound.push((whole, arguments.clone()));
            }
        }
        if calls.is_empty() {
            continue;
        }
        cases += 1;
        harness
            .register_model("default", Of("openai", ScriptedModel::new().calls(calls).text("done")))
            .unwrap();
        harness.with_policy(RunPolicy { repair: ArgumentRepair::Off, ..RunPolicy::recovering() });
        let run = harness.invoke(&(), vec![Message::user("go")]).await.unwrap();
        assert_whole(&run.messages);
        let results = results(&run.messages);
        let seen = seen.lock().unwrap();
        let mut bodies = seen.iter();
        for (result, (whole, arguments)) in results.iter().zip(&sound) {
            if *whole {
                // Some expected calls have a field that the declaration lacks; that it is silent is no leave.
                let schema = &harness.tools().spec(result.name.as_str()).unwrap().input_schema;
                let extra = undeclared(schema, arguments);
                undeclared_calls += usize::from(extra);
                assert_eq!(result.is_error, extra, "{}: {arguments}: {}", case["id"], result.text());
            }
            if result.is_error {
                refused += 1;
            } else {
                let got = bodies.next().unwrap();
                assert!(same(got, arguments), "{}: {got} is not {arguments}", case["id"]);
                ran += 1;
            }
        }
        assert_eq!(results.len(), sound.len());
        assert!(bodies.next().is_none(), "{}: a refused call ran", case["id"]);
    }
    println!(
        "{cases} cases with {tools} tools: {ran} calls ran, {refused} broken ones were refused, {undeclared_calls} of \
         them for a field that is not declared"
    );
    assert!(ran > 0 && refused > 0);
}

#[test]
fn a_broken_call_of_bfcl_is_refused_where_jsonschema_sees_the_mistake() {
    let functions = functions();
    let expected = expected(&functions);
    let listed: BTreeSet<_> =
        lines("invalid_expected.jsonl").iter().map(|line| line["id"].to_string()).collect();
    let (mut broken, mut sound, mut in_cases) = (0, 0, BTreeSet::new());
    for call in &expected {
        let is_listed = listed.contains(&Value::from(call.case.as_str()).to_string());
        let mut misfits = 0;
        for arguments in [Some(&call.minimal), call.full.as_ref()].into_iter().flatten() {
            let (own, other) = mistakes(&call.parameters, arguments);
            assert_eq!(own, other, "{}: {arguments}", call.case);
            misfits += usize::from(!own.is_empty());
            sound += usize::from(own.is_empty());
        }
        assert_eq!(misfits > 0, call.broken, "{}: {}", call.case, call.minimal);
        if call.broken {
            assert!(is_listed, "{}: broken, and not listed", call.case);
            in_cases.insert(&call.case);
            broken += 1;
        }
    }
    println!(
        "{} expected calls: {sound} argument objects validate, {broken} calls are refused, with the same paths; {} of \
         {} listed cases are there",
        expected.len(),
        in_cases.len(),
        listed.len()
    );
    assert!(sound > 0 && broken > 0);
}

/// A value of a type that a property does not take.
fn of_another_type(schema: &Value) -> Option<Value> {
    match schema["type"].as_str()? {
        "string" => Some(json!(7)),
        "boolean" => Some(json!("true")),
        "integer" => Some(json!(1.5)),
        _ => Some(json!("words")),
    }
}

/// A value of the right type that a property does not list.
fn unlisted(schema: &Value) -> Option<Value> {
    let listed = schema.get("enum")?.as_array()?;
    let value = match schema["type"].as_str()? {
        "integer" => json!(987_654_321),
        "number" => json!(0.123_456),
        "string" => json!("no such value"),
        _ => return None,
    };
    (!listed.contains(&value)).then_some(value)
}

/// The calls that one mistake makes of a sound one, with the path of the mistake.
fn mutated(parameters: &Value, arguments: &Value) -> Vec<(&'static str, String, Value)> {
    let mut all = Vec::new();
    let with = |name: &str, value: Value| {
        let mut object = arguments.as_object().unwrap().clone();
        object.insert(name.into(), value);
        Value::Object(object)
    };
    for name in parameters["required"].as_array().into_iter().flatten().map(text) {
        let mut object = arguments.as_object().unwrap().clone();
        if object.shift_remove(name).is_some() {
            all.push(("missing", pointer(name), Value::Object(object)));
        }
    }
    let none = Map::new();
    for (name, schema) in parameters["properties"].as_object().unwrap_or(&none) {
        if let Some(value) = of_another_type(schema) {
            all.push(("wrong type", pointer(name), with(name, value)));
        }
        if let Some(value) = unlisted(schema) {
            all.push(("wrong enum", pointer(name), with(name, value)));
        }
        if schema["type"] == "array" {
            if let Some(item) = of_another_type(&schema["items"]) {
                all.push(("wrong item", format!("{}/0", pointer(name)), with(name, json!([item]))));
            }
        }
        if schema
            .get("properties")
            .is_some_and(|fields| fields.as_object().is_some_and(|all| !all.is_empty()))
        {
            let (field, inner) = schema["properties"].as_object().unwrap().iter().next().unwrap();
            if let Some(value) = of_another_type(inner) {
                let path = format!("{}{}", pointer(name), pointer(field));
                all.push(("wrong field", path, with(name, json!({ field: value }))));
            }
        }
    }
    all.push(("unknown", "/no_such_argument".into(), with("no_such_argument", json!(1))));
    all.push(("no object", String::new(), json!([arguments])));
    all
}

#[test]
fn every_mutated_call_of_bfcl_is_refused() {
    let functions = functions();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for call in expected(&functions).iter().filter(|call| !call.broken) {
        for (kind, path, arguments) in mutated(&call.parameters, &call.minimal) {
            let mut parameters = call.parameters.clone();
            if kind == "unknown" {
                parameters["additionalProperties"] = json!(false);
            }
            let (own, other) = mistakes(&parameters, &arguments);
            let at = format!("{}: {}: {kind} at {path}: {arguments}", call.case, call.name);
            assert!(own.contains(&path), "{at}: {own:?}");
            assert_eq!(own, other, "{at}");
            *counts.entry(kind).or_default() += 1;
        }
    }
    println!("mutated calls, all refused: {counts:?}");
    for kind in ["missing", "unknown", "wrong type", "wrong enum", "wrong item", "wrong field", "no object"] {
        assert!(counts.contains_key(kind), "no call with the mistake `{kind}`");
    }
}
