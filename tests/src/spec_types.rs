//! Every field, variant and default that the specification names, by value.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use tinyagents::harness::context::{
    ArgumentRepair, ExtraArgs, InvalidArgsPolicy, LimitBehavior, RunConfig, RunContext, RunLimits, RunPolicy,
    UnknownToolPolicy,
};
use tinyagents::harness::event::{AgentEvent, EventSink};
use tinyagents::harness::message::{
    Arguments, ArtifactRef, ContentBlock, Message, ProviderMetadata, ToolMessage,
};
use tinyagents::harness::policy::{
    SandboxMode, ToolAccess, ToolPolicy, ToolRuntimePolicy, ToolSideEffects, WorkspaceAccess,
};
use tinyagents::harness::runtime::AgentHarness;
use tinyagents::harness::store::StoreRegistry;
use tinyagents::harness::tool::{
    Idempotency, InjectedArgSpec, JsonSchema, RetryPolicy, Tool, ToolCall, ToolCallId, ToolClass, ToolError,
    ToolFormat, ToolName, ToolOutput, ToolRegistry, ToolResult, ToolRuntime, ToolSafety, ToolSchema,
    ToolSpec,
};
use tinyagents::harness::workspace::WorkspaceDescriptor;
use tinyagents::{CancellationToken, Result, TinyAgentsError};

/// A tool written by hand, with exactly the signatures of the specification and with nothing but `tinyagents`.
struct ByHand;

#[tinyagents::async_trait]
impl Tool<()> for ByHand {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new("by_hand", "Written by hand.", json!({ "type": "object" }))
    }

    async fn call(&self, state: &(), runtime: ToolRuntime<'_>, call: ToolCall) -> Result<ToolResult> {
        let () = state;
        // s28 to s31: the four fields, with their types.
        let ctx: &RunContext<()> = runtime.ctx;
        let stores: &StoreRegistry = runtime.stores;
        let events: &EventSink = runtime.events;
        let cancellation: CancellationToken = runtime.cancellation;
        stores.get("notes").put("seen", json!(ctx.run_id())).await?;
        events.emit(AgentEvent::Custom { name: "seen".into(), data: json!(cancellation.is_cancelled()) });
        Ok(ToolOutput::text("ok").into_result(&call))
    }
}

#[tokio::test]
async fn s16_s17_s18_s29_t1_a_tool_by_hand_runs_in_the_loop() {
    let spec = Tool::<()>::spec(&ByHand);
    let parts = (spec.name.as_str(), spec.description.as_str(), spec.input_schema["type"].as_str());
    assert_eq!(parts, ("by_hand", "Written by hand.", Some("object")), "t1: one trait has all of it");
    let model = tinyagents::testkit::ScriptedModel::new().call("by_hand", json!({})).text("done");
    let mut stage = crate::fixture::Stage::new(model).tool(ByHand);
    let stores = StoreRegistry::new();
    stage.harness.with_stores(stores.clone());
    let run = stage.run().await.unwrap();
    assert_eq!(run.messages[2].text(), "ok");
    assert_eq!(stores.get("notes").get("seen").await.unwrap(), Some(json!("run_1")));
    let seen = stage.events.records().into_iter().find(|record| record.event.kind() == "custom").unwrap();
    assert_eq!((seen.turn, seen.call_index), (1, Some(0)), "s30: the event bears the call's index");
}

/// Greet somebody, or nobody.
#[tinyagents::tool(read_only)]
async fn greet(name: String) -> Result<ToolOutput, ToolError> {
    if name.is_empty() {
        return Err(ToolError::retry_with("whom?"));
    }
    Ok(ToolOutput::text(format!("Hello, {name}!")))
}

/// Say good-bye.
#[tinyagents::tool(read_only)]
fn leave() -> ToolOutput {
    ToolOutput::text("Good-bye!")
}

#[tokio::test]
async fn t3_outputs_and_errors_of_a_tool_are_what_a_function_returns() {
    use tinyagents::testkit::call;

    let text = |result: ToolResult| (result.content, result.is_error);
    let good = call(&Greet, &(), json!({ "name": "Ada" })).await.unwrap();
    assert_eq!(text(good), (vec![ContentBlock::text("Hello, Ada!")], false));
    let bad = call(&Greet, &(), json!({ "name": "" })).await.unwrap();
    assert_eq!(text(bad), (vec![ContentBlock::text("error: whom?")], true));
    let left = call(&Leave, &(), json!({})).await.unwrap();
    assert_eq!(text(left), (vec![ContentBlock::text("Good-bye!")], false));
}

/// The fields of a value, as the specification writes their names.
fn fields(value: impl tinyagents::serde::Serialize) -> Vec<String> {
    match serde_json::to_value(value).unwrap() {
        Value::Object(object) => object.keys().cloned().collect(),
        other => panic!("{other}"),
    }
}

#[test]
fn s19_to_s27_the_fields_of_a_specification() {
    let ToolSpec {
        name,
        description,
        input_schema,
        output_schema,
        injected,
        safety,
        timeout,
        retry,
        idempotency,
        format: _,     // beside the specification: how the tool is shown
        validation: _, // and how much of its schema is enforced
    } = Tool::<()>::spec(&ByHand);
    let _: (ToolName, String, JsonSchema, Option<JsonSchema>) =
        (name, description, input_schema, output_schema);
    let _: (Vec<InjectedArgSpec>, ToolSafety, Option<Duration>) = (injected, safety, timeout);
    let (retry, idempotency): (Option<RetryPolicy>, Idempotency) = (retry, idempotency);
    assert_eq!((retry, idempotency), (None, Idempotency::NotIdempotent));
}

#[test]
fn s21_a_schema_reads_as_json() {
    let spec = Tool::<()>::spec(&ByHand);
    assert_eq!(spec.input_schema["type"], "object");
}

#[test]
fn s24_to_s27_the_policy_is_the_single_source() {
    let policy = ToolPolicy::classified()
        .with_side_effects(ToolSideEffects { payment: true, ..Default::default() })
        .with_runtime(ToolRuntimePolicy {
            timeout_ms: Some(10_000),
            max_retries: 3,
            idempotent: true,
            ..Default::default()
        });
    let spec = Tool::<()>::spec(&ByHand).with_policy(&policy);
    assert!(spec.safety.spends && !spec.safety.read_only);
    assert_eq!(spec.timeout, Some(Duration::from_secs(10)));
    assert_eq!(spec.retry, Some(RetryPolicy { max_retries: 3 }));
    assert_eq!(spec.idempotency, Idempotency::Idempotent);
    let read_only = Tool::<()>::spec(&ByHand).with_policy(&ToolPolicy::read_only());
    assert!(read_only.safety.read_only && !read_only.safety.spends);
}

#[test]
fn the_fields_of_a_call_and_a_result() {
    let ToolCall { id, name, arguments, invalid, provider } = ToolCall::new("c", "n", json!({ "a": 1 }));
    let _: (ToolCallId, String, Arguments) = (id, name, arguments);
    let _: (Option<String>, Option<ProviderMetadata>) = (invalid, provider);
    let call = ToolCall::new("c", "n", json!({}));
    let ToolResult { tool_call_id, name, content, value, artifacts, is_error, provider, elapsed } =
        ToolOutput::json(json!({ "a": 1 })).into_result(&call);
    let _: (ToolCallId, ToolName, Vec<ContentBlock>) = (tool_call_id, name, content);
    let _: (Vec<ArtifactRef>, Option<ProviderMetadata>, Duration) = (artifacts, provider, elapsed);
    assert_eq!((value, is_error), (Some(json!({ "a": 1 })), false));
}

#[test]
fn the_fields_of_a_policy() {
    assert_eq!(fields(ToolPolicy::default()), ["classified", "side_effects", "runtime", "access", "redact"]);
    assert_eq!(
        fields(ToolSideEffects::default()),
        [
            "read_only",
            "writes_files",
            "network",
            "installs_dependencies",
            "destructive",
            "external_service",
            "payment",
            "process"
        ]
    );
    assert_eq!(
        fields(ToolRuntimePolicy::default()),
        [
            "sandbox",
            "timeout_ms",
            "max_retries",
            "idempotent",
            "cancelable",
            "max_result_bytes",
            "streaming",
            "max_concurrency",
            "return_direct",
            "polling",
            "extra_args"
        ]
    );
    assert_eq!(
        fields(ToolAccess::default()),
        ["workspace", "trusted_roots", "credentials", "approval_required", "background_safe"]
    );
    let policy = ToolPolicy::read_only().with_access(ToolAccess {
        workspace: WorkspaceAccess::Scoped,
        trusted_roots: vec!["src".into()],
        ..Default::default()
    });
    let text = serde_json::to_string(&policy).unwrap();
    assert_eq!(serde_json::from_str::<ToolPolicy>(&text).unwrap(), policy, "serde both ways");
    assert!(policy.side_effects.read_only, "with_access keeps the other parts");
}

#[test]
fn a_misspelt_restriction_is_an_error_and_not_no_restriction() {
    for text in [
        r#"{ "acess": {} }"#,
        r#"{ "runtime": { "sandbx": "required" } }"#,
        r#"{ "side_effects": { "paymnt": true } }"#,
        r#"{ "access": { "aproval_required": true } }"#,
    ] {
        assert!(serde_json::from_str::<ToolPolicy>(text).is_err(), "{text}");
    }
    assert!(serde_json::from_str::<RunPolicy>(r#"{ "limits": { "max_tool_cals": 3 } }"#).is_err());
    let policy =
        RunPolicy { limits: RunLimits { max_tool_calls: 3, ..Default::default() }, ..Default::default() };
    let text = serde_json::to_string(&policy).unwrap();
    assert_eq!(serde_json::from_str::<RunPolicy>(&text).unwrap(), policy);
}

#[test]
fn the_variants() {
    let names = |values: Vec<Value>| -> Vec<String> {
        values.into_iter().map(|value| value.as_str().unwrap_or("?").to_string()).collect()
    };
    let modes = [SandboxMode::Inherit, SandboxMode::Disabled, SandboxMode::Required];
    assert_eq!(names(modes.map(|mode| json!(mode)).into()), ["inherit", "disabled", "required"]);
    let access =
        [WorkspaceAccess::None, WorkspaceAccess::Read, WorkspaceAccess::Scoped, WorkspaceAccess::Any];
    assert_eq!(names(access.map(|access| json!(access)).into()), ["none", "read", "scoped", "any"]);
    let _ = [ToolClass::ReadOnly, ToolClass::Mutating];
    let _ = [ToolFormat::Json, ToolFormat::Xml, ToolFormat::PType { parameters: vec![] }];
    let _ = [LimitBehavior::Error, LimitBehavior::StopWithPartial];
    let _ = [InvalidArgsPolicy::Fail, InvalidArgsPolicy::ReturnToolError];
    let _ = [
        UnknownToolPolicy::Fail,
        UnknownToolPolicy::ReturnToolError,
        UnknownToolPolicy::Rewrite { tool_name: "lookup".into() },
    ];
    let _ = TinyAgentsError::ToolNotFound("name".into());
}

#[test]
fn the_kinds_of_events_are_their_serialised_names() {
    let call = || ToolCallId::from("c");
    let events = [
        (AgentEvent::ToolStarted { call_id: call(), tool_name: "t".into() }, "tool.started"),
        (
            AgentEvent::ToolCompleted {
                call_id: call(),
                tool_name: "t".into(),
                attempts: 1,
                elapsed: Duration::ZERO,
                artifacts: vec![],
                result: None,
            },
            "tool.completed",
        ),
        (AgentEvent::MessageQueued {}, "message.queued"),
        (AgentEvent::TurnOpened { tool_calls: 1 }, "turn.opened"),
        (AgentEvent::RunFailed { error: "e".into() }, "run.failed"),
        (AgentEvent::ToolProgress { message: "m".into() }, "tool.progress"),
    ];
    for (event, kind) in events {
        assert_eq!(event.kind(), kind);
        assert_eq!(serde_json::to_value(&event).unwrap()["kind"], kind);
    }
}

#[test]
fn d01_d03_t4_t6_defaults_of_a_tool() {
    assert_eq!(ToolFormat::default(), ToolFormat::Json);
    assert_eq!(ToolClass::default(), ToolClass::Mutating);
    let tool: &dyn Tool<(), ()> = &ByHand; // Ctx = () is the default
    let _: &dyn Tool<()> = tool;
    assert_eq!(tool.class(), ToolClass::Mutating);
    assert!(!tool.is_recursive());
    assert_eq!(tool.policy(), ToolPolicy::default());
    assert!(!ToolPolicy::default().classified);
}

#[test]
fn a_read_only_policy_makes_a_tool_read_only_unless_it_writes() {
    struct With(ToolPolicy);

    #[tinyagents::async_trait]
    impl Tool<()> for With {
        fn spec(&self) -> ToolSpec {
            ToolSpec::new("with", "With a policy.", json!({ "type": "object" }))
        }

        async fn call(&self, _: &(), _: ToolRuntime<'_>, call: ToolCall) -> Result<ToolResult> {
            Ok(ToolOutput::default().into_result(&call))
        }

        fn policy(&self) -> ToolPolicy {
            self.0.clone()
        }
    }

    let effects = |change: fn(&mut ToolSideEffects)| {
        let mut effects = ToolSideEffects { read_only: true, ..Default::default() };
        change(&mut effects);
        With(ToolPolicy::classified().with_side_effects(effects)).class()
    };
    assert_eq!(effects(|_| ()), ToolClass::ReadOnly);
    assert_eq!(effects(|effects| effects.network = true), ToolClass::ReadOnly, "a web search reads");
    for writes in [
        |effects: &mut ToolSideEffects| effects.writes_files = true,
        |effects: &mut ToolSideEffects| effects.installs_dependencies = true,
        |effects: &mut ToolSideEffects| effects.destructive = true,
        |effects: &mut ToolSideEffects| effects.external_service = true,
        |effects: &mut ToolSideEffects| effects.payment = true,
        |effects: &mut ToolSideEffects| effects.process = true,
    ] {
        assert_eq!(effects(writes), ToolClass::Mutating);
    }
    let access = |workspace| {
        With(ToolPolicy::read_only().with_access(ToolAccess { workspace, ..Default::default() })).class()
    };
    assert_eq!(access(WorkspaceAccess::Read), ToolClass::ReadOnly);
    assert_eq!(access(WorkspaceAccess::Scoped), ToolClass::Mutating);
    let unclassified = ToolPolicy { classified: false, ..ToolPolicy::read_only() };
    assert_eq!(With(unclassified).class(), ToolClass::Mutating);
}

#[test]
fn d02_defaults_of_a_run() {
    let policy = RunPolicy::default();
    assert_eq!(policy.unknown_tool, UnknownToolPolicy::Fail);
    assert_eq!(policy.invalid_args, InvalidArgsPolicy::Fail);
    let recovering = RunPolicy::recovering();
    assert_eq!(recovering.unknown_tool, UnknownToolPolicy::ReturnToolError);
    assert_eq!(recovering.invalid_args, InvalidArgsPolicy::ReturnToolError);
    assert_eq!((policy.repair, policy.extra_args), (ArgumentRepair::Off, ExtraArgs::Deny));
    assert_eq!((recovering.repair, recovering.extra_args), (ArgumentRepair::On, ExtraArgs::Deny));
    assert_eq!((policy.grace, policy.max_result_bytes), (Duration::from_secs(5), 65_536));
}

#[test]
fn d05_limits_are_the_documented_numbers() {
    let expected = RunLimits {
        max_model_calls: 25,
        max_tool_calls: 100,
        max_retries: 20,
        repeat_notice: 3,
        max_repeats: 6,
        max_duration: Duration::from_secs(600),
        max_depth: 3,
        behavior: LimitBehavior::Error,
    };
    assert_eq!(RunLimits::default(), expected);
}

#[test]
fn the_other_names_stand_at_their_paths() {
    let _: (RunConfig, Option<WorkspaceDescriptor>) = (RunConfig::default(), None);
    let _: (ToolRegistry<()>, AgentHarness<()>) = (ToolRegistry::new(), AgentHarness::new());
    let _: BTreeMap<ToolName, ToolPolicy> = ToolRegistry::<()>::new().policies();
    let _: fn(&Message) -> String = Message::text;
    let _: Option<ToolMessage> = None;
    let _ = ToolSchema::new("n", "d", json!({ "type": "object" }));
}
