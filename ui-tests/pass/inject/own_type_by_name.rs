//! An application's own type is found by a key once it implements `InjectKeyed`; it can have both forms.

use tinyagents::harness::message::ToolCall;
use tinyagents::prelude::*;
use tinyagents::testkit::FixedCredentials;

struct Label(String);

impl<S, C> InjectKeyed<S, C> for Label {
    fn inject(cx: &InjectContext<'_, S, C>, key: &'static str) -> Result<Self, ToolError> {
        let value = cx.runtime.ctx.config().metadata.get(key).and_then(|value| value.as_str());
        value.map(|value| Self(value.into())).ok_or_else(|| ToolError::fatal(format!("no label `{key}`")))
    }
}

impl<S, C> Inject<S, C> for Label {
    fn inject(_: &InjectContext<'_, S, C>) -> Result<Self, ToolError> {
        Ok(Self("unlabelled".into()))
    }
}

/// A client that has a credential of its own.
struct Client(Secret<String>);

impl<S, C> InjectKeyed<S, C> for Client {
    fn inject(cx: &InjectContext<'_, S, C>, key: &'static str) -> Result<Self, ToolError> {
        Ok(Self(InjectKeyed::inject(cx, key)?))
    }

    fn needs(key: &'static str, needs: &mut Needs) {
        needs.credential(key);
    }
}

/// Both forms, and a client.
#[tool(read_only)]
async fn labels(
    #[inject("team")] team: Label,
    #[inject] none: Label,
    #[inject("TOKEN")] client: Client,
) -> String {
    format!("{} {} {}", team.0, none.0, client.0.expose_secret().len())
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let kinds: Vec<_> = Labels::spec().injected.iter().map(|arg| (&*arg.kind, arg.key())).collect();
    assert_eq!(kinds, [("Label(team)", Some("team")), ("Label", None), ("Client(TOKEN)", Some("TOKEN"))]);
    let mut harness: AgentHarness<()> = AgentHarness::new();
    harness.register_tool(Labels).unwrap().with_credentials(FixedCredentials::new([("TOKEN", "four")]));
    // Only the compiler and the registry know what the client needs.
    assert!(Labels::policy().access.credentials.is_empty());
    assert_eq!(harness.tools().policies()["labels"].access.credentials, ["TOKEN"]);
    let mut config = RunConfig::default();
    config.metadata.insert("team".into(), json!("red"));
    let call = ToolCall::new("c", "labels", json!({}));
    let result = harness.call_tool(&(), RunContext::new(config, ()), call).await;
    assert_eq!(result.content, [ContentBlock::text("red unlabelled 4")]);
}
