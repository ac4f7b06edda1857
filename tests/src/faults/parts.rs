//! Everything around the calls of a scene that is not the library's own: the model, the hooks, the person, the store.

use std::sync::{Arc, Mutex};

use tinyagents::harness::context::{RunContext, RunHandle};
use tinyagents::harness::id::RunId;
use tinyagents::harness::message::{AssistantMessage, ToolCall};
use tinyagents::harness::middleware::{Middleware, ToolGate};
use tinyagents::harness::model::{DeltaSink, Model, ModelError, ModelReply, ModelRequest};
use tinyagents::harness::policy::{Approval, ApprovalRequest, Approver};
use tinyagents::harness::store::{ArtifactStore, StoreError};
use tinyagents::harness::tool::{ToolError, ToolResult};

use super::steps::{STEP, Step, Striker};

/// A model that makes its calls once, and then answers.
pub struct Caller {
    pub calls: Vec<ToolCall>,
    pub striker: Striker,
}

#[tinyagents::async_trait]
impl Model for Caller {
    fn name(&self) -> &str {
        "caller"
    }

    fn provider(&self) -> &str {
        "caller"
    }

    async fn generate(
        &self,
        request: &ModelRequest,
        deltas: &DeltaSink<'_>,
    ) -> Result<ModelReply, ModelError> {
        tokio::time::sleep(STEP).await;
        self.striker.at(Step::Model).await.map_err(ModelError::Other)?;
        deltas.text("well");
        let replied = request.messages.iter().any(|message| message.as_assistant().is_some());
        Ok(match replied {
            true => AssistantMessage::text("well").into(),
            false => AssistantMessage::calls(self.calls.clone()).into(),
        })
    }
}

/// The runs that asked a model, by their handles.
pub type Runs = Arc<Mutex<Vec<(RunId, RunHandle)>>>;

/// Hooks at every place; the first that a run meets notes its handle.
pub struct Hooks {
    pub striker: Striker,
    pub runs: Runs,
}

impl Hooks {
    async fn at(&self, step: Step) -> tinyagents::Result<()> {
        tokio::time::sleep(STEP).await;
        Ok(self.striker.at(step).await.map_err(ToolError::failed)?)
    }
}

#[tinyagents::async_trait]
impl Middleware<()> for Hooks {
    async fn before_model(&self, ctx: &RunContext, _: &mut ModelRequest) -> tinyagents::Result<()> {
        {
            let mut runs = self.runs.lock().unwrap();
            if runs.iter().all(|(id, _)| id != ctx.run_id()) {
                runs.push((ctx.run_id().clone(), ctx.handle()));
            }
        }
        self.at(Step::BeforeModel).await
    }

    async fn after_model(&self, _: &RunContext, _: &mut ModelReply) -> tinyagents::Result<()> {
        self.at(Step::AfterModel).await
    }

    async fn before_tool(&self, _: &RunContext, _: &(), call: &mut ToolCall) -> tinyagents::Result<ToolGate> {
        self.at(Step::BeforeTool).await?;
        Ok(if call.name == "denied" { ToolGate::reject("not today") } else { ToolGate::Proceed })
    }

    async fn on_tool_error(&self, _: &RunContext, _: &(), _: &ToolCall, _: &ToolError) {
        let _ = self.at(Step::OnToolError).await;
    }

    async fn after_tool(
        &self,
        _: &RunContext,
        _: &(),
        _: &ToolCall,
        _: &mut ToolResult,
    ) -> tinyagents::Result<()> {
        self.at(Step::AfterTool).await
    }
}

/// Refuses calls of one kind, and agrees to the others for the whole run.
pub struct Person(pub Striker);

#[tinyagents::async_trait]
impl Approver for Person {
    async fn ask(&self, request: ApprovalRequest) -> Approval {
        tokio::time::sleep(STEP).await;
        match self.0.at(Step::Approver).await {
            Err(_) => Approval::default(),
            Ok(()) if request.call.name == "refused" => Approval::deny("no"),
            Ok(()) => Approval::Run,
        }
    }
}

/// Keeps nothing.
pub struct Shelf(pub Striker);

#[tinyagents::async_trait]
impl ArtifactStore for Shelf {
    async fn put(&self, _: &str, _: &str, _: Vec<u8>) -> Result<(), StoreError> {
        tokio::time::sleep(STEP).await;
        let broken = |reason| StoreError { store: "shelf".into(), reason };
        self.0.at(Step::Store).await.map_err(broken)
    }

    async fn get(&self, _: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(None)
    }
}
