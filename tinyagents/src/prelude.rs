//! What an application imports: `use tinyagents::prelude::*;`.

pub use crate::harness::context::{
    LimitBehavior, ModelSettings, RunConfig, RunContext, RunHandle, RunLimits, RunPolicy,
};
pub use crate::harness::credential::{CredentialProvider, EnvCredentials, Secret};
pub use crate::harness::event::{AgentEvent, EventRecord, EventSink, PayloadCapture};
pub use crate::harness::id::{IdempotencyKey, RunId, ThreadId, ToolCallId};
pub use crate::harness::message::{AssistantMessage, ContentBlock, Message, ToolCall};
pub use crate::harness::policy::{Approval, ApprovalRequest, Approver, ToolPolicy};
pub use crate::harness::resource::Resource;
pub use crate::harness::runtime::{AgentHarness, AgentRun, ChildRuns, RunFinish, SubAgent};
pub use crate::harness::store::{StoreHandle, StoreRegistry};
pub use crate::harness::tool::{
    Artifacts, Attempt, Deadline, DynTool, Inject, InjectContext, InjectKeyed, Json, Needs, Progress, Tool,
    ToolError, ToolOutput, ToolRegistry, ToolResult, Toolset,
};
pub use crate::harness::workspace::WorkspaceDescriptor;
pub use crate::{CancellationToken, ToolState, tool, tool_type, tools, toolset};
pub use serde_json::{Value, json};
