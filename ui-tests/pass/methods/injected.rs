//! A set is there for every state and context that provide what its methods inject.

use std::sync::Arc;

use tinyagents::prelude::*;
use tinyagents::testkit::ScriptedModel;

struct Mail;
struct Outbox(String);

#[derive(Clone, ToolState)]
struct App {
    outbox: Arc<Outbox>,
    sender: String,
}

#[tools]
impl Mail {
    /// Send a mail.
    #[tool(external_service)]
    async fn send(
        &self,
        to: &str,
        subject: Option<&str>,
        #[inject] outbox: &Arc<Outbox>,
        #[inject] sender: &String,
        #[inject] run: &RunContext<u8>,
        #[inject] call: ToolCallId,
    ) -> String {
        let _ = (self, call);
        format!("{sender} to {to} by {}, {:?}, {}", outbox.0, subject, run.data())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> tinyagents::Result<()> {
    let kinds: Vec<_> = MailSend::spec().injected.iter().map(|arg| arg.kind.as_str()).collect();
    assert_eq!(kinds, ["state", "state", "context", "ToolCallId"]);
    assert_eq!(MailSend::PARAMETERS, ["to", "subject"]);

    let model = ScriptedModel::new().call("send", json!({ "to": "Bob" })).text("Sent.");
    let mut harness: AgentHarness<App, u8> = AgentHarness::new();
    harness.register_model("default", model)?.register_tools(Arc::new(Mail).tools())?;
    let app = App { outbox: Arc::new(Outbox("post".into())), sender: "Ada".into() };
    let ctx = RunContext::new(RunConfig::default(), 7);
    let run = harness.invoke_in_context(&app, ctx, vec![Message::user("Go")]).await?;
    assert_eq!(run.messages[2].text(), "Ada to Bob by post, None, 7");
    Ok(())
}
