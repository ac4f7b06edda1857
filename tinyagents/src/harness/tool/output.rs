//! From whatever a function returns to a tool's output.
//!
//! `#[tool]` calls `Returned(value).split()`, then `output()` or `fault()` on the half it gets. Which impl answers
//! is decided by the type, not by how it is spelt, so aliases of `Result` work: an inherent method is taken
//! before a trait's, and one by value before one by reference.

use std::fmt::Display;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::Value;

use super::{ToolError, ToolOutput};
use crate::TinyAgentsError;
use crate::harness::message::ContentBlock;

/// Something a tool can return: anything that implements `serde::Serialize`, or a [`ToolOutput`].
///
/// A string is shown to the model as it is, everything else as JSON, which the application also gets as
/// `ToolResult::value`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a tool",
    label = "this is neither `serde::Serialize` nor a `ToolOutput`",
    note = "put `#[derive(serde::Serialize)]` on `{Self}`, or return a `ToolOutput`; a `Secret` has no JSON form, so \
            return what was done with it"
)]
pub trait IntoToolOutput {
    /// Makes the output.
    ///
    /// # Errors
    ///
    /// The value has no JSON form, such as a map whose keys are no strings.
    fn into_tool_output(self) -> Result<ToolOutput, ToolError>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize> IntoToolOutput for T {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        match serde_json::to_value(self) {
            Ok(Value::String(text)) => Ok(ToolOutput::text(text)),
            Ok(Value::Null) => Ok(ToolOutput::default()),
            Ok(value) => Ok(ToolOutput::json(value)),
            Err(error) => Err(ToolError::failed(format!("the tool's result has no JSON form: {error}"))),
        }
    }
}

impl IntoToolOutput for ToolOutput {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(self)
    }
}

/// An error a tool can return: anything with a text.
///
/// The words of a typed error (`std::error::Error`), of a string and of a [`ToolError`] reach the model. Those of
/// a type-erased error, such as `anyhow::Error` or `Box<dyn Error>`, may hold anything: the model is told a
/// generic sentence with an error id, and the text goes to the application's events.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a tool",
    label = "this error has no text, or cannot be sent between threads",
    note = "implement `std::error::Error` for `{Self}`, or return a `ToolError`; a boxed error must be `Send + Sync`"
)]
pub trait IntoToolError {
    /// Makes the error; the text is for the application only, which can get the value back with
    /// [`ToolError::downcast_ref`].
    fn into_tool_error(self) -> ToolError;
}

#[diagnostic::do_not_recommend]
impl<E: Display + Send + Sync + 'static> IntoToolError for E {
    fn into_tool_error(self) -> ToolError {
        ToolError::erased(self)
    }
}

/// A structured result: a marker for functions whose return type should say so. Any `Serialize` type works
/// without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Json<T>(pub T);

impl<T: JsonSchema> JsonSchema for Json<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> std::borrow::Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// What a function returned.
pub struct Returned<T>(pub T);

/// A good value.
pub struct Out<T>(pub T);

/// An error value. It is taken out once.
pub struct Fault<E>(Option<E>);

impl<E> Fault<E> {
    fn new(error: E) -> Self {
        Self(Some(error))
    }

    fn take(&mut self, make: impl FnOnce(E) -> ToolError) -> ToolError {
        self.0.take().map_or_else(|| ToolError::opaque("the error was taken already"), make)
    }
}

impl<T, E> Returned<Result<T, E>> {
    /// Tells value from error.
    pub fn split(self) -> Result<Out<T>, Fault<E>> {
        self.0.map(Out).map_err(Fault::new)
    }
}

/// What is tried when there is no inherent method.
pub trait OutFallback {
    /// The value within.
    type Inner;

    /// A return value that is no `Result` cannot be an error.
    fn split(self) -> Result<Out<Self::Inner>, Fault<std::convert::Infallible>>;
}

impl<T> OutFallback for Returned<T> {
    type Inner = T;

    fn split(self) -> Result<Out<T>, Fault<std::convert::Infallible>> {
        Ok(Out(self.0))
    }
}

/// What an `Option` of an output gives: nothing, or the output as it is.
fn optional(output: Option<ToolOutput>) -> Result<ToolOutput, ToolError> {
    Ok(output.unwrap_or_default())
}

/// Makes the output of a good value.
pub trait OutValue<T> {
    /// Makes the output.
    fn output(self) -> Result<ToolOutput, ToolError>
    where
        T: IntoToolOutput;
}

impl<T> OutValue<T> for Out<T> {
    fn output(self) -> Result<ToolOutput, ToolError>
    where
        T: IntoToolOutput,
    {
        self.0.into_tool_output()
    }
}

impl Out<String> {
    /// A text, moved.
    pub fn output(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text(self.0))
    }
}

impl Out<ContentBlock> {
    /// One block, as it is.
    pub fn output(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::blocks([self.0]))
    }
}

impl Out<Vec<ContentBlock>> {
    /// Blocks, as they are.
    pub fn output(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::blocks(self.0))
    }
}

impl Out<Option<ToolOutput>> {
    /// An output, or none.
    pub fn output(self) -> Result<ToolOutput, ToolError> {
        optional(self.0)
    }
}

impl Out<Option<ContentBlock>> {
    /// One block as it is, or none.
    pub fn output(self) -> Result<ToolOutput, ToolError> {
        optional(self.0.map(|block| ToolOutput::blocks([block])))
    }
}

impl Out<Option<Vec<ContentBlock>>> {
    /// Blocks as they are, or none.
    pub fn output(self) -> Result<ToolOutput, ToolError> {
        optional(self.0.map(ToolOutput::blocks))
    }
}

impl Out<f64> {
    /// A number, if JSON has it.
    pub fn output(self) -> Result<ToolOutput, ToolError> {
        match serde_json::Number::from_f64(self.0) {
            Some(number) => Ok(ToolOutput::json(number)),
            None => {
                Err(ToolError::failed(format!("the tool's result is {}, which has no JSON form", self.0)))
            }
        }
    }
}

impl Out<f32> {
    /// A number, if JSON has it.
    pub fn output(self) -> Result<ToolOutput, ToolError> {
        match self.0.is_finite() {
            true => self.0.into_tool_output(),
            false => Out(f64::from(self.0)).output(),
        }
    }
}

impl Fault<ToolError> {
    /// The author's own error.
    pub fn fault(mut self) -> ToolError {
        self.take(|error| error)
    }
}

impl Fault<TinyAgentsError> {
    /// The tool error within, or the library's own words.
    pub fn fault(mut self) -> ToolError {
        self.take(TinyAgentsError::into_tool_error)
    }
}

impl Fault<String> {
    /// The author's words.
    pub fn fault(mut self) -> ToolError {
        self.take(ToolError::failed)
    }
}

impl Fault<&'static str> {
    /// The author's words.
    pub fn fault(mut self) -> ToolError {
        self.take(ToolError::failed)
    }
}

impl Fault<Box<dyn std::error::Error>> {
    /// An erased error that cannot leave its thread: its words go to the application.
    pub fn fault(mut self) -> ToolError {
        self.take(|error| ToolError::opaque(error.to_string()))
    }
}

/// A typed error: the author's words, and the error itself for the application.
pub trait FaultTyped {
    /// Makes the error.
    fn fault(self) -> ToolError;
}

impl<E: std::error::Error + Send + Sync + 'static> FaultTyped for Fault<E> {
    fn fault(mut self) -> ToolError {
        self.take(ToolError::from)
    }
}

/// A typed error that cannot be kept, because it borrows or must stay in its thread: the author's words.
pub trait FaultLocal {
    /// Makes the error.
    fn fault(self) -> ToolError;
}

impl<E: std::error::Error> FaultLocal for &Fault<E> {
    fn fault(self) -> ToolError {
        ToolError::failed(self.0.as_ref().map(ToString::to_string).unwrap_or_default())
    }
}

/// An error that borrows and is no typed one.
pub trait FaultBorrowed<E> {
    /// Makes the error.
    fn fault(self) -> ToolError
    where
        E: Display;
}

impl<E> FaultBorrowed<E> for &&Fault<E> {
    fn fault(self) -> ToolError
    where
        E: Display,
    {
        ToolError::opaque(self.0.as_ref().map(ToString::to_string).unwrap_or_default())
    }
}

/// Any other error.
pub trait FaultFallback<E> {
    /// Makes the error.
    fn fault(self) -> ToolError
    where
        E: IntoToolError;
}

impl<E> FaultFallback<E> for &mut Fault<E> {
    fn fault(self) -> ToolError
    where
        E: IntoToolError,
    {
        self.take(IntoToolError::into_tool_error)
    }
}

/// Finds the output schema of a return type: `(&&&Probe::<R>::new()).schema(generator)`.
pub struct Probe<R>(PhantomData<fn() -> R>);

impl<R> Probe<R> {
    /// A probe of the type.
    #[expect(clippy::new_without_default, reason = "made by generated code only")]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

/// A `Result` whose value has a schema.
pub trait ProbeResult {
    /// The schema of the value.
    fn schema(&self, generator: &mut SchemaGenerator) -> Option<Schema>;
}

impl<T: JsonSchema, E> ProbeResult for &&Probe<Result<T, E>> {
    fn schema(&self, generator: &mut SchemaGenerator) -> Option<Schema> {
        structured(T::json_schema(generator))
    }
}

/// A value that has a schema.
pub trait ProbeValue {
    /// The schema of the value.
    fn schema(&self, generator: &mut SchemaGenerator) -> Option<Schema>;
}

impl<T: JsonSchema> ProbeValue for &Probe<T> {
    fn schema(&self, generator: &mut SchemaGenerator) -> Option<Schema> {
        structured(T::json_schema(generator))
    }
}

/// Anything else.
pub trait ProbeNothing {
    /// No schema is known.
    fn schema(&self, _: &mut SchemaGenerator) -> Option<Schema> {
        None
    }
}

impl<T> ProbeNothing for Probe<T> {}

/// Only a structured value has an output schema worth stating; a text or a number speaks for itself.
fn structured(schema: Schema) -> Option<Schema> {
    let plain = match schema.get("type") {
        Some(Value::String(name)) => !matches!(name.as_str(), "object" | "array"),
        Some(_) => true,
        None => schema.as_object().is_none_or(|object| object.is_empty()),
    };
    (!plain).then_some(schema)
}
