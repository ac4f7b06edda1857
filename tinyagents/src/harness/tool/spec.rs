//! What a tool says of itself.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::harness::id::ToolName;
use crate::harness::policy::{ToolPolicy, WorkspaceAccess};

/// A JSON Schema (draft 2020-12), shared and immutable. Dereferences to its [`Value`].
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JsonSchema(Arc<Value>);

impl JsonSchema {
    /// Whether it is the same schema: usually the same memory, which takes no walk to see.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self == other
    }
}

impl Deref for JsonSchema {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0
    }
}

impl From<Value> for JsonSchema {
    fn from(schema: Value) -> Self {
        Self(Arc::new(schema))
    }
}

impl PartialEq<Value> for JsonSchema {
    fn eq(&self, other: &Value) -> bool {
        *self.0 == *other
    }
}

impl fmt::Debug for JsonSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&*self.0, f)
    }
}

/// How a tool is shown to a model and how the model writes a call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolFormat {
    /// JSON function calling; left out when serialised.
    #[default]
    Json,
    /// XML tags: `<tool_name><field>value</field></tool_name>`.
    Xml,
    /// Ordered parameters: `search("rust agents", 5)`.
    #[serde(rename = "ptype")]
    PType {
        /// The parameter names in the order of their positions.
        parameters: Vec<String>,
    },
}

impl ToolFormat {
    /// Whether this is the default format.
    pub fn is_json(&self) -> bool {
        *self == Self::Json
    }
}

/// A tool as a model sees it.
///
/// ```
/// use tinyagents::harness::tool::{ToolFormat, ToolSchema};
/// use tinyagents::serde_json::{json, to_value};
///
/// let weather = ToolSchema::new("weather", "Look up weather.", json!({ "type": "object" }));
/// assert!(to_value(&weather)?.get("format").is_none());
/// assert_eq!(weather.with_format(ToolFormat::Xml).format, ToolFormat::Xml);
/// # Ok::<(), tinyagents::serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSchema {
    /// The name the model calls it by.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// The schema of its arguments: an object.
    pub parameters: JsonSchema,
    /// How it should be shown.
    #[serde(default, skip_serializing_if = "ToolFormat::is_json")]
    pub format: ToolFormat,
}

impl ToolSchema {
    /// A tool in the default format.
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        parameters: impl Into<JsonSchema>,
    ) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            parameters: parameters.into(),
            format: ToolFormat::Json,
        }
    }

    /// Shows the tool in another format.
    pub fn with_format(mut self, format: ToolFormat) -> Self {
        self.format = format;
        self
    }
}

/// A parameter that the runtime fills and the model never sees.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InjectedArgSpec {
    /// The parameter's name in the function.
    pub name: String,
    /// What is injected:
    ///
    /// - `state`: a part of the state, or all of it;
    /// - `context`: the run's context;
    /// - `RunId`, `CancellationToken`, `Resource`, ...: a value of that type (its name, without arguments; of an
    ///   `Option`, the name of what it holds);
    /// - `Secret(GITHUB_TOKEN)`, `StoreHandle(notes)`, ...: a value that is found by a name, with the name.
    pub kind: String,
}

impl InjectedArgSpec {
    /// The name by which the value is found, if it is found by one: `GITHUB_TOKEN` of `Secret(GITHUB_TOKEN)`. Never
    /// a secret's value.
    pub fn key(&self) -> Option<&str> {
        self.kind.split_once('(')?.1.strip_suffix(')')
    }
}

/// A tool's safety as one flat record, derived from its [`ToolPolicy`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolSafety {
    /// It only reads; otherwise it counts as mutating.
    pub read_only: bool,
    /// Calling it twice is as calling it once.
    pub idempotent: bool,
    /// It leaves the machine.
    pub networked: bool,
    /// How much of the file system it uses.
    pub filesystem: WorkspaceAccess,
    /// It starts processes.
    pub process: bool,
    /// It spends money.
    pub spends: bool,
    /// A person must confirm each call.
    pub requires_confirmation: bool,
    /// Directories it may use.
    pub allowed_roots: Vec<String>,
    /// Paths that events and logs never show.
    pub redact: Vec<String>,
}

impl From<&ToolPolicy> for ToolSafety {
    fn from(policy: &ToolPolicy) -> Self {
        let effects = &policy.side_effects;
        Self {
            read_only: policy.is_read_only(),
            idempotent: policy.runtime.idempotent,
            networked: effects.network || effects.external_service || effects.payment,
            filesystem: policy.access.workspace,
            process: effects.process,
            spends: effects.payment,
            requires_confirmation: policy.access.approval_required,
            allowed_roots: policy.access.trusted_roots.clone(),
            redact: policy.redact.clone(),
        }
    }
}

/// How often a call that failed transiently may be made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetryPolicy {
    /// Attempts after the first.
    pub max_retries: u32,
}

/// Whether calling a tool twice is as calling it once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Idempotency {
    /// It is.
    Idempotent,
    /// It is not, or nobody said so.
    #[default]
    NotIdempotent,
}

/// How much of a schema is enforced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Validation {
    /// The specification's subset: types, properties, required, closed objects, items, enum. For schemas that
    /// were written elsewhere.
    #[default]
    Subset,
    /// The subset and the bounds that the tool's author declared. For schemas that `#[tool]` wrote.
    Declared,
    /// Every keyword of draft 2020-12, `format` aside, which the draft makes an annotation. Needs the feature
    /// `full-validation`; without it the schema is refused.
    ///
    /// Bounded as the subset is. Refused with its tool is a schema that leads back to itself without a step into the
    /// value, checks one value by more than 10,000 of its parts, has more than 64 parts within each other, references
    /// followed, or many parts with an `$id` that refer to each other. A call is refused
    /// that would take more than 5,000,000 checks, counted as if none of them failed: alternatives that contain
    /// themselves under the same name double with each level of the value. Where there are very many mistakes, they are
    /// not told one by one.
    Full,
}

/// Everything a tool says of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// The canonical name.
    pub name: ToolName,
    /// What the tool does, for the model.
    pub description: String,
    /// The schema of the arguments that the model may choose.
    pub input_schema: JsonSchema,
    /// The schema of the structured value it returns, if known.
    pub output_schema: Option<JsonSchema>,
    /// The parameters that the runtime fills, in order.
    pub injected: Vec<InjectedArgSpec>,
    /// Its safety, derived from the policy.
    pub safety: ToolSafety,
    /// The longest time a call may take, derived from the policy.
    pub timeout: Option<Duration>,
    /// How often it may be retried, derived from the policy.
    pub retry: Option<RetryPolicy>,
    /// Whether calling it twice is as calling it once, derived from the policy.
    pub idempotency: Idempotency,
    /// How it is shown to a model.
    pub format: ToolFormat,
    /// How much of `input_schema` is enforced.
    pub validation: Validation,
}

impl ToolSpec {
    /// A tool with an unclassified policy.
    ///
    /// The name is checked when the tool is registered.
    pub fn new(
        name: impl AsRef<str>,
        description: impl Into<String>,
        input_schema: impl Into<JsonSchema>,
    ) -> Self {
        Self {
            name: ToolName::unchecked(name.as_ref()),
            description: description.into(),
            input_schema: input_schema.into(),
            output_schema: None,
            injected: Vec::new(),
            safety: ToolSafety::default(),
            timeout: None,
            retry: None,
            idempotency: Idempotency::NotIdempotent,
            format: ToolFormat::Json,
            validation: Validation::Subset,
        }
    }

    /// Derives `safety`, `timeout`, `retry` and `idempotency` from a policy.
    pub fn with_policy(mut self, policy: &ToolPolicy) -> Self {
        self.safety = policy.into();
        self.timeout = policy.runtime.timeout();
        let max_retries = policy.runtime.max_retries;
        self.retry = (max_retries > 0).then_some(RetryPolicy { max_retries });
        self.idempotency = match policy.runtime.idempotent {
            true => Idempotency::Idempotent,
            false => Idempotency::NotIdempotent,
        };
        self
    }

    /// The tool as a model sees it.
    pub fn schema(&self) -> ToolSchema {
        ToolSchema::new(self.name.as_str(), self.description.clone(), self.input_schema.clone())
            .with_format(self.format.clone())
    }
}
