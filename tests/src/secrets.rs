//! One secret, sent through everything that could show it.

use std::str::FromStr;

use serde_json::json;
use tinyagents::harness::credential::{CredentialError, CredentialRequest};
use tinyagents::harness::message::ToolCall;
use tinyagents::prelude::*;
use tinyagents::testkit::{FixedCredentials, ScriptedModel};
use tinyagents::{Missing, TinyAgentsError};

use crate::fixture::{Recorder, assert_whole, results};

const CANARY: &str = "sk-canary-77e0aa";

/// A secret of a type of its own, which would repeat the text in its error.
struct Port(u16);

impl FromStr for Port {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.parse().map(Self).map_err(|_| format!("no port: {text}"))
    }
}

/// Fetch a page with the token.
#[tool(read_only, network)]
async fn fetch(
    /// What to fetch.
    path: String,
    #[inject("GITHUB_TOKEN")] token: Secret<String>,
    #[inject] ctx: &RunContext,
    #[inject] events: EventSink,
    #[inject] progress: Progress,
) -> String {
    assert_eq!(token.expose_secret(), CANARY);
    progress.report(format!("with {token:?}"));
    events.emit(AgentEvent::Custom { name: "fetch".into(), data: json!(format!("{token:?} {ctx:?}")) });
    format!("{path}: ok")
}

/// Fail with the token in hand.
#[tool(read_only)]
fn fail_with(#[inject("GITHUB_TOKEN")] token: Secret<String>) -> Result<String, ToolError> {
    Err(ToolError::failed(format!("{token:?} was refused")))
}

/// Panic with the token in hand.
#[tool(read_only)]
fn panic_with(#[inject("GITHUB_TOKEN")] token: Secret<String>) -> String {
    panic!("{token:?}")
}

/// Use the token as something it is not.
#[tool(read_only)]
fn misread(#[inject("GITHUB_TOKEN")] port: Secret<Port>) -> String {
    port.expose_secret().0.to_string()
}

fn harness(model: &ScriptedModel, events: &Recorder) -> AgentHarness<()> {
    let mut harness = AgentHarness::new();
    harness.register_model("default", model.clone()).unwrap();
    harness.with_policy(RunPolicy::recovering());
    harness.with_listener(events.listener()).with_payload_capture(PayloadCapture::On);
    harness
}

#[tokio::test]
async fn s06_a_secret_reaches_the_body_and_nothing_else() {
    let model = ScriptedModel::new()
        .calls([
            ToolCall::new("1", "fetch", json!({ "path": "/a" })),
            ToolCall::new("2", "fetch", json!({ "path": "/b", "token": "forged" })),
            ToolCall::new("3", "fail_with", json!({})),
            ToolCall::new("4", "panic_with", json!({})),
        ])
        .calls([ToolCall::new("5", "misread", json!({}))])
        .text("done");
    let events = Recorder::default();
    let credentials = FixedCredentials::new([("GITHUB_TOKEN", CANARY)]);
    let mut harness = harness(&model, &events);
    harness.register_tool(Fetch).unwrap().register_tool(FailWith).unwrap();
    harness.register_tool(PanicWith).unwrap().register_tool(Misread).unwrap();
    harness.with_credentials(credentials.clone());
    let ctx = RunContext::default();
    let handle = ctx.handle();
    let error = harness.invoke_in_context(&(), ctx, vec![Message::user("go")]).await.unwrap_err();
    let messages = handle.transcript();
    assert_whole(&messages);
    let texts: Vec<_> = results(&messages).iter().map(|result| result.text()).collect();
    assert_eq!(texts[0], "/a: ok");
    assert!(texts[1].contains("unknown argument `token`"), "{}", texts[1]);
    assert_eq!(texts[2], "error: Secret([redacted]) was refused");
    assert!(texts[3].contains("Secret([redacted])"), "{}", texts[3]);
    assert!(texts[4].contains("the credential `GITHUB_TOKEN` is no valid"), "{}", texts[4]);
    assert!(texts[4].contains("Port"), "{}", texts[4]);

    let schemas: Vec<_> = harness.tools().schemas();
    let specs = format!("{:?} {:?}", Fetch::spec(), Misread::spec());
    let policies = serde_json::to_string(&harness.tools().policies()).unwrap();
    let everywhere = [
        format!("{error} {error:?}"),
        format!("{schemas:?} {} {specs} {policies}", serde_json::to_string(&schemas).unwrap()),
        format!("{:?} {}", messages, serde_json::to_string(&*messages).unwrap()),
        format!("{:?}", model.requests()),
        format!("{:?} {}", events.records(), serde_json::to_string(&events.records()).unwrap()),
        format!("{credentials:?} {:?}", Secret::from(CANARY)),
    ];
    for sink in &everywhere {
        assert!(!sink.contains(CANARY), "{sink}");
    }
    // What is hidden is also not there under its name.
    assert!(!everywhere[3].contains("GITHUB_TOKEN"), "the model is not told the name either");
    assert!(everywhere[1].contains("Secret(GITHUB_TOKEN)"));
}

#[tokio::test]
async fn a_credential_is_asked_for_once_in_a_run() {
    let call = |id: &str| ToolCall::new(id, "fetch", json!({ "path": "/" }));
    let model = ScriptedModel::new().calls([call("1"), call("2")]).calls([call("3")]).text("done");
    let credentials = FixedCredentials::new([("GITHUB_TOKEN", CANARY), ("OTHER", "x")]);
    let mut harness = harness(&model, &Recorder::default());
    harness.register_tool(Fetch).unwrap().register_tool(FailWith).unwrap();
    harness.with_credentials(credentials.clone());
    let run = harness.invoke(&(), vec![Message::user("go")]).await.unwrap();
    assert_eq!(run.answer().as_deref(), Some("done"));
    assert_eq!(credentials.asked(), ["GITHUB_TOKEN"]);
}

/// Use two services.
#[tool(read_only)]
fn both(
    #[inject("GITHUB_TOKEN")] _one: Secret<String>,
    #[inject("JIRA_TOKEN")] _two: Secret<String>,
    #[inject] _table: Resource<Table>,
) {
}

struct Table;

#[tokio::test]
async fn a_missing_credential_or_resource_keeps_the_run_from_starting() {
    let model = ScriptedModel::new().text("never asked");
    let events = Recorder::default();
    let mut harness = harness(&model, &events);
    harness.register_tool(Both).unwrap().register_tool(Fetch).unwrap();
    harness.with_credentials(FixedCredentials::new([("GITHUB_TOKEN", CANARY)]));
    let error = harness.invoke(&(), vec![Message::user("go")]).await.unwrap_err();
    let TinyAgentsError::NotProvided(missing) = &error else { panic!("{error:?}") };
    let needs: Vec<_> = missing.iter().map(|missing| (missing.tool.as_str(), &missing.need)).collect();
    assert!(matches!(needs[..], [("both", Missing::Resource(_)), ("both", Missing::Credential { .. })]));
    let text = error.to_string();
    assert!(text.contains("Table") && text.contains("with_resource"), "{text}");
    assert!(text.contains("the tool `both` injects the credential `JIRA_TOKEN`"), "{text}");
    assert!(model.requests().is_empty(), "no model was asked");
    assert_eq!(events.kinds(), ["run.started", "run.failed"]);

    harness.with_credentials(FixedCredentials::new([("GITHUB_TOKEN", CANARY), ("JIRA_TOKEN", "j")]));
    harness.with_resource(Table);
    assert!(harness.invoke(&(), vec![Message::user("go")]).await.is_ok());
}

#[tokio::test]
async fn without_a_provider_the_way_out_is_named() {
    let model = ScriptedModel::new().text("never asked");
    let mut harness = harness(&model, &Recorder::default());
    harness.register_tool(Fetch).unwrap();
    let error = harness.invoke(&(), vec![Message::user("go")]).await.unwrap_err().to_string();
    assert!(error.contains("AgentHarness::with_credentials"), "{error}");
    // One call, without a run that could be kept from starting: the call's result says it.
    let call = ToolCall::new("c", "fetch", json!({ "path": "/" }));
    let result = harness.call_tool(&(), RunContext::default(), call).await;
    assert!(result.is_error && format!("{:?}", result.content).contains("`GITHUB_TOKEN`"));
}

/// Cannot answer.
struct Broken(bool);

#[tinyagents::async_trait]
impl CredentialProvider for Broken {
    async fn credential(&self, _: CredentialRequest<'_>) -> Result<Option<Secret<String>>, CredentialError> {
        match self.0 {
            true => panic!("the vault is on fire"),
            false => Err(CredentialError::new("the vault is sealed")),
        }
    }
}

#[tokio::test]
async fn a_provider_that_fails_or_panics_keeps_the_run_from_starting() {
    for (panics, reason) in [(false, "the vault is sealed"), (true, "the vault is on fire")] {
        let model = ScriptedModel::new().text("never asked");
        let mut harness = harness(&model, &Recorder::default());
        harness.register_tool(Fetch).unwrap().with_credentials(Broken(panics));
        let error = harness.invoke(&(), vec![Message::user("go")]).await.unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
        assert!(model.requests().is_empty());
    }
}

/// Never answers.
struct Silent;

#[tinyagents::async_trait]
impl CredentialProvider for Silent {
    async fn credential(&self, _: CredentialRequest<'_>) -> Result<Option<Secret<String>>, CredentialError> {
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_never_answers_takes_no_more_than_the_runs_time() {
    let model = ScriptedModel::new().text("never asked");
    let mut harness = harness(&model, &Recorder::default());
    harness.register_tool(Fetch).unwrap().with_credentials(Silent);
    let error = harness.invoke(&(), vec![Message::user("go")]).await.unwrap_err();
    assert!(error.to_string().contains("max_duration"), "{error}");

    let ctx = RunContext::default();
    let handle = ctx.handle();
    handle.cancel();
    let run = harness.invoke_in_context(&(), ctx, vec![Message::user("go")]).await.unwrap();
    assert_eq!(run.finish, RunFinish::Cancelled);
}

#[test]
fn a_tool_that_injects_a_secret_lists_its_name_in_its_policy() {
    /// Not otherwise classified.
    #[tool]
    fn bare(#[inject("TOKEN")] _token: Secret<String>) {}

    /// One is listed already.
    #[tool(read_only, credentials("TOKEN", "MORE"))]
    fn listed(#[inject("TOKEN")] _token: Secret<String>, #[inject("OTHER")] _other: Secret<String>) {}

    type Token = Secret<String>;

    /// An alias is only known to the compiler, and so to the registry.
    #[tool(read_only)]
    fn aliased(#[inject("TOKEN")] _token: Token) {}

    assert!(!Bare::policy().classified, "a name alone classifies nothing");
    assert_eq!(Bare::policy().access.credentials, ["TOKEN"]);
    assert_eq!(Listed::policy().access.credentials, ["TOKEN", "MORE", "OTHER"]);
    let mut registry: ToolRegistry<()> = ToolRegistry::new();
    registry.register(Aliased).unwrap();
    assert_eq!(registry.policies().values().next().unwrap().access.credentials, ["TOKEN"]);
}

#[tokio::test]
async fn the_environment_has_credentials_of_the_same_name() {
    /// Read what cargo sets for every test.
    #[tool(read_only)]
    fn manifest(#[inject("CARGO_MANIFEST_DIR")] dir: Secret<String>) -> String {
        dir.expose_secret().clone()
    }
    let mut harness: AgentHarness<()> = AgentHarness::new();
    harness.register_tool(Manifest).unwrap().with_credentials(EnvCredentials);
    let result =
        harness.call_tool(&(), RunContext::default(), ToolCall::new("c", "manifest", json!({}))).await;
    let text = format!("{:?}", result.content);
    assert!(!result.is_error && text.contains("tests"), "{text}");
}

#[tokio::test]
async fn a_value_made_of_a_secret_passes_its_need_on() {
    struct Client(Secret<String>);

    impl<S, C> InjectKeyed<S, C> for Client {
        fn inject(cx: &InjectContext<'_, S, C>, key: &'static str) -> Result<Self, ToolError> {
            Ok(Self(InjectKeyed::inject(cx, key)?))
        }

        fn needs(key: &'static str, needs: &mut Needs) {
            <Secret<String> as InjectKeyed<S, C>>::needs(key, needs);
        }
    }

    /// Forgot to say so.
    struct Forgetful;

    impl<S, C> Inject<S, C> for Forgetful {
        fn inject(cx: &InjectContext<'_, S, C>) -> Result<Self, ToolError> {
            <Secret<String> as InjectKeyed<S, C>>::inject(cx, "TOKEN").map(|_| Self)
        }
    }

    /// Ask the service.
    #[tool(read_only)]
    fn ask(#[inject("TOKEN")] client: Client) -> usize {
        client.0.expose_secret().len()
    }

    /// Ask without having said so.
    #[tool(read_only)]
    fn forget(#[inject] _client: Forgetful) {}

    let mut harness: AgentHarness<()> = AgentHarness::new();
    harness.register_tool(Ask).unwrap().register_tool(Forget).unwrap();
    harness.with_credentials(FixedCredentials::new([("TOKEN", "four")]));
    let call =
        |name: &str| harness.call_tool(&(), RunContext::default(), ToolCall::new("c", name, json!({})));
    assert_eq!(call("ask").await.value, Some(json!(4)));
    let forgot = call("forget").await;
    assert!(forgot.is_error && format!("{:?}", forgot.content).contains("must say so in `needs`"));
}
