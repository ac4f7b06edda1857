//! All that generated code may touch. Not part of the public interface: it changes without notice.

pub use std::boxed::Box;
pub use std::clone::Clone;
pub use std::convert::From;
pub use std::default::Default;
pub use std::fmt::{Debug, Formatter, Result as FmtResult};
pub use std::future::Future;
pub use std::marker::{Copy, Send, Sync};
pub use std::option::Option::{self, None, Some};
pub use std::path::PathBuf;
pub use std::pin::Pin;
pub use std::result::Result::{self, Err, Ok};
pub use std::string::String;
pub use std::sync::{Arc, OnceLock};
pub use std::vec::Vec;

pub use crate::harness::context::ExtraArgs;
pub use crate::harness::policy::{SandboxMode, ToolPolicy, WorkspaceAccess};
pub use crate::harness::tool::generated::*;
pub use crate::harness::tool::{
    Inject, InjectContext, InjectKeyed, Needs, Provide, Tool, ToolCall, ToolError, ToolFormat, ToolOutput,
    ToolResult, ToolRuntime, ToolSpec, Toolset, ToolsetEntry,
};
pub use crate::{schemars, serde};
pub use tinyagents_macros::toolset;

/// What a call's future gives.
pub type CallResult = crate::Result<ToolResult>;

/// A call's future.
pub type Called<'a> = Pin<Box<dyn Future<Output = CallResult> + Send + 'a>>;

/// The traits whose methods generated code calls, to be imported without their names.
pub mod methods {
    pub use crate::harness::tool::generated::{
        FaultBorrowed as _, FaultFallback as _, FaultLocal as _, FaultTyped as _, OutFallback as _,
        OutValue as _, ProbeNothing as _, ProbeResult as _, ProbeValue as _,
    };
}

/// Boxes a body that borrows its arguments.
pub fn boxed<'a>(body: impl Future<Output = CallResult> + Send + 'a) -> Called<'a> {
    Box::pin(body)
}

impl ToolDef {
    /// Takes a call.
    pub const fn open<'a, S, C>(
        &'static self,
        state: &'a S,
        runtime: ToolRuntime<'a, C>,
        call: ToolCall,
    ) -> Opened<'a, S, C> {
        Opened { tool: self, state, runtime, call }
    }

    /// Ends a generated body. The result shares the tool's name, if the call has that one.
    ///
    /// # Errors
    ///
    /// The tool's error.
    pub fn finish(&'static self, call: &ToolCall, output: Result<ToolOutput, ToolError>) -> CallResult {
        let output = output?;
        let name = &self.spec().name;
        Ok(if *name == *call.name { output.into_named(call, name.clone()) } else { output.into_result(call) })
    }
}

/// A call of a generated tool.
pub struct Opened<'a, S, C> {
    tool: &'static ToolDef,
    state: &'a S,
    runtime: ToolRuntime<'a, C>,
    call: ToolCall,
}

impl<'a, S: Sync, C: Send + Sync> Opened<'a, S, C> {
    /// Runs an async function that owns its arguments: `open` reads them and makes the future, `close` turns what
    /// it gives into the output.
    pub fn run<F>(
        self,
        open: impl FnOnce(&Decoder<'_>, &InjectContext<'_, S, C>) -> Result<F, ToolError> + Send + 'a,
        close: impl FnOnce(F::Output) -> Result<ToolOutput, ToolError> + Send + 'a,
    ) -> Called<'a>
    where
        F: Future + Send + 'a,
    {
        Box::pin(async move {
            let Self { tool, state, runtime, call } = self;
            let cx = InjectContext { state, runtime: &runtime, call: &call };
            let body = open(&tool.decode(&call)?, &cx)?;
            tool.finish(&call, close(body.await))
        })
    }

    /// Runs a plain function.
    pub fn run_sync(
        self,
        body: impl FnOnce(&Decoder<'_>, &InjectContext<'_, S, C>) -> Result<ToolOutput, ToolError> + Send + 'a,
    ) -> Called<'a> {
        Box::pin(async move {
            let Self { tool, state, runtime, call } = self;
            let cx = InjectContext { state, runtime: &runtime, call: &call };
            let output = body(&tool.decode(&call)?, &cx);
            tool.finish(&call, output)
        })
    }
}

/// A list of texts in a policy.
pub fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.into()).collect()
}

/// In the place of a tool that `#[cfg]` removed, where a bound must name a type all the same.
#[derive(Debug, Clone, Copy)]
pub struct Absent;

impl<S: Send + Sync, C: Send + Sync> Tool<S, C> for Absent {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new("absent", "", serde_json::json!({ "type": "object" }))
    }

    fn call<'a, 'b, 'c, 'd>(&'a self, _: &'b S, _: ToolRuntime<'c, C>, call: ToolCall) -> Called<'d>
    where
        'a: 'd,
        'b: 'd,
        'c: 'd,
        Self: 'd,
    {
        boxed(std::future::ready(Ok(ToolOutput::default().into_result(&call))))
    }
}
