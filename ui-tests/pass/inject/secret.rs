//! A secret is found by its name, and only the body sees its value.

use tinyagents::harness::message::ToolCall;
use tinyagents::prelude::*;
use tinyagents::testkit::FixedCredentials;

struct Port(u16);

impl std::str::FromStr for Port {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

type Token = Secret<String>;

/// Ask the service.
#[tool(read_only)]
async fn ask(
    path: &str,
    #[inject("SERVICE_TOKEN")] token: Secret<String>,
    #[inject("SERVICE_PORT")] port: Secret<Port>,
    #[inject("SERVICE_TOKEN")] again: Token,
) -> String {
    assert_eq!(token.expose_secret(), again.expose_secret());
    format!("{path} {} {} {token:?}", token.expose_secret().len(), port.expose_secret().0)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    assert_eq!(Ask::PARAMETERS, ["path"]);
    assert_eq!(Ask::spec().input_schema["properties"], json!({ "path": { "type": "string" } }));
    let kinds: Vec<_> = Ask::spec().injected.iter().map(|arg| (arg.kind.as_str(), arg.key())).collect();
    let expected = [
        ("Secret(SERVICE_TOKEN)", Some("SERVICE_TOKEN")),
        ("Secret(SERVICE_PORT)", Some("SERVICE_PORT")),
        ("Token(SERVICE_TOKEN)", Some("SERVICE_TOKEN")),
    ];
    assert_eq!(kinds, expected);
    assert_eq!(Ask::policy().access.credentials, ["SERVICE_TOKEN", "SERVICE_PORT"]);

    let mut harness: AgentHarness<()> = AgentHarness::new();
    harness.register_tool(Ask).unwrap();
    harness.with_credentials(FixedCredentials::new([("SERVICE_TOKEN", "four"), ("SERVICE_PORT", "80")]));
    let call = ToolCall::new("c", "ask", json!({ "path": "/" }));
    let result = harness.call_tool(&(), RunContext::default(), call).await;
    assert_eq!(result.content, [ContentBlock::text("/ 4 80 Secret([redacted])")]);
}
