//! A model that follows a script.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use crate::harness::message::{Arguments, AssistantMessage, ToolCall};
use crate::harness::model::{DeltaSink, Model, ModelError, ModelReply, ModelRequest};

type Step = Box<dyn FnOnce(&ModelRequest) -> Result<ModelReply, ModelError> + Send>;

#[derive(Default)]
struct Script {
    steps: VecDeque<Step>,
    requests: Vec<ModelRequest>,
    calls: usize,
}

/// A model that replies what it was told to, in order, and records what it was asked.
///
/// Clones share the script, so a test keeps one to look at. A step may compute its reply from the request.
///
/// ```
/// use tinyagents::prelude::*;
/// use tinyagents::testkit::ScriptedModel;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> tinyagents::Result<()> {
/// let model = ScriptedModel::new().respond(|request| {
///     Ok(tinyagents::harness::message::AssistantMessage::text(format!(
///         "You wrote {} message(s).",
///         request.messages.len()
///     ))
///     .into())
/// });
/// let mut harness: AgentHarness<()> = AgentHarness::new();
/// harness.register_model("default", model.clone())?;
/// let run = harness.invoke(&(), vec![Message::user("Hi")]).await?;
/// assert_eq!(run.answer().as_deref(), Some("You wrote 1 message(s)."));
/// model.assert_complete();
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct ScriptedModel(Arc<Mutex<Script>>);

impl ScriptedModel {
    /// A model whose script is empty.
    pub fn new() -> Self {
        Self::default()
    }

    /// Then replies with a text; it is streamed word by word.
    pub fn text(self, text: impl Into<String>) -> Self {
        self.reply(AssistantMessage::text(text))
    }

    /// Then makes one call. Its id is `call_N`, counted over the script.
    pub fn call(self, name: impl Into<String>, arguments: impl Into<Arguments>) -> Self {
        let number = {
            let mut script = self.lock();
            script.calls += 1;
            script.calls
        };
        self.calls([ToolCall::new(format!("call_{number}"), name, arguments)])
    }

    /// Then makes several calls in one reply.
    pub fn calls(self, calls: impl IntoIterator<Item = ToolCall>) -> Self {
        self.reply(AssistantMessage::calls(calls))
    }

    /// Then replies as given.
    pub fn reply(self, reply: impl Into<ModelReply>) -> Self {
        let reply = reply.into();
        self.respond(|_| Ok(reply))
    }

    /// Then computes its reply from the request.
    pub fn respond(
        self,
        step: impl FnOnce(&ModelRequest) -> Result<ModelReply, ModelError> + Send + 'static,
    ) -> Self {
        self.lock().steps.push_back(Box::new(step));
        self
    }

    /// What the model was asked, in order.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.lock().requests.clone()
    }

    /// Checks that the whole script was used.
    ///
    /// # Panics
    ///
    /// Steps are left.
    #[track_caller]
    pub fn assert_complete(&self) {
        let left = self.lock().steps.len();
        assert!(left == 0, "the script has {left} more replies that were not asked for");
    }

    fn lock(&self) -> MutexGuard<'_, Script> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Model for ScriptedModel {
    fn name(&self) -> &str {
        "scripted"
    }

    fn provider(&self) -> &str {
        "scripted"
    }

    async fn generate(
        &self,
        request: &ModelRequest,
        deltas: &DeltaSink<'_>,
    ) -> Result<ModelReply, ModelError> {
        let step = {
            let mut script = self.lock();
            script.requests.push(request.clone());
            let number = script.requests.len();
            script.steps.pop_front().ok_or(ModelError::ScriptEnded { request: number })?
        };
        let reply = step(request)?;
        let text = crate::harness::message::text_of(&reply.message.content);
        text.split_inclusive(' ').for_each(|word| deltas.text(word));
        Ok(reply)
    }
}
