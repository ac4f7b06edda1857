//! Hooks around the steps of a run.
//!
//! Guarantee: whatever a hook renames or edits passes every later gate as its new self; a hook that refuses or
//! fails is that call's result.
//!
//! `before_*` hooks run in the order of registration, `after_*` hooks in reverse.

mod allowlist;

pub use allowlist::ToolAllowlist;

use async_trait::async_trait;

use super::context::RunContext;
use super::message::ToolCall;
use super::model::{ModelReply, ModelRequest};
use super::tool::{ToolError, ToolResult};
use crate::Result;

/// What a `before_tool` hook says of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ToolGate {
    /// The call may go on.
    #[default]
    Proceed,
    /// The call may go on if a person approves it.
    Ask {
        /// Why, for the person.
        reason: String,
    },
    /// The call must not run; the model is told the reason.
    Reject {
        /// Why, for the model.
        reason: String,
    },
}

impl ToolGate {
    /// Has a person decide.
    pub fn ask(reason: impl Into<String>) -> Self {
        Self::Ask { reason: reason.into() }
    }

    /// Refuses the call.
    pub fn reject(reason: impl Into<String>) -> Self {
        Self::Reject { reason: reason.into() }
    }
}

/// Hooks around the steps of a run. Every hook has a default that does nothing.
#[async_trait]
pub trait Middleware<State: Send + Sync, Ctx: Send + Sync = ()>: Send + Sync {
    /// Before the model is asked: the request may be changed, tools hidden from it above all. A hidden tool
    /// cannot be called in that turn.
    ///
    /// # Errors
    ///
    /// An error ends the run.
    async fn before_model(&self, ctx: &RunContext<Ctx>, request: &mut ModelRequest) -> Result<()> {
        let _ = (ctx, request);
        Ok(())
    }

    /// After the reply arrived, before any of its calls.
    ///
    /// # Errors
    ///
    /// An error ends the run; the reply is not recorded.
    async fn after_model(&self, ctx: &RunContext<Ctx>, reply: &mut ModelReply) -> Result<()> {
        let _ = (ctx, reply);
        Ok(())
    }

    /// Before a call's name is looked up and its arguments are checked: both may be changed.
    ///
    /// # Errors
    ///
    /// An error refuses the call.
    async fn before_tool(
        &self,
        ctx: &RunContext<Ctx>,
        state: &State,
        call: &mut ToolCall,
    ) -> Result<ToolGate> {
        let _ = (ctx, state, call);
        Ok(ToolGate::Proceed)
    }

    /// After the body ended with an error, before it becomes the call's result: shows the error itself, whose type
    /// [`ToolError::downcast_ref`] tells. Nothing can be changed here; [`after_tool`](Self::after_tool) may change
    /// the result.
    ///
    /// Hooks see a call once, however often it is made again: this is the error that remains. `tool.retrying` has those
    /// of the attempts before.
    async fn on_tool_error(&self, ctx: &RunContext<Ctx>, state: &State, call: &ToolCall, error: &ToolError) {
        let _ = (ctx, state, call, error);
    }

    /// After the body ended, with a value or an error: the result may be changed before it is bounded and
    /// recorded.
    ///
    /// # Errors
    ///
    /// An error becomes the call's result.
    async fn after_tool(
        &self,
        ctx: &RunContext<Ctx>,
        state: &State,
        call: &ToolCall,
        result: &mut ToolResult,
    ) -> Result<()> {
        let _ = (ctx, state, call, result);
        Ok(())
    }
}
