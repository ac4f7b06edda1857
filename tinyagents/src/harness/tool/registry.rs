//! The tools of a harness.

use std::collections::BTreeMap;
use std::sync::Arc;

use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};

use super::alias::{aliases, names_of, refused};
use super::dialect::SchemaDialect;
use super::param::ToolDef;
use super::shown::{AdaptedTools, ToolSet};
use super::{
    Needs, SchemaError, SchemaResources, Tool, ToolName, ToolNameError, ToolSchema, ToolSpec, Toolset,
    Validator,
};
use crate::harness::policy::ToolPolicy;

/// Why a tool cannot be registered. The registry is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// The name breaks a rule.
    #[error(transparent)]
    Name(#[from] ToolNameError),
    /// A tool or an alias of that name exists.
    #[error("a tool or alias named `{0}` is registered already; give one of them another name")]
    Duplicate(String),
    /// The schema cannot be enforced.
    #[error("tool `{tool}`: {error}")]
    Schema {
        /// The tool.
        tool: String,
        /// What is wrong with its schema.
        error: SchemaError,
    },
    /// What the tool declares of its parameters contradicts itself.
    #[error("tool `{tool}`: {reason}")]
    Parameters {
        /// The tool.
        tool: String,
        /// Everything that is wrong, and what to write instead.
        reason: String,
    },
    /// The policy allows no call at all.
    #[error("tool `{0}`: `max_concurrency` is zero, so no call could run; leave it out or allow at least 1")]
    NoConcurrency(String),
    /// The schema's root is no object, but arguments are one.
    #[error(
        "tool `{0}`: the input schema must have `\"type\": \"object\"` at its root; put the value into a property: \
         `{{\"type\": \"object\", \"properties\": {{\"value\": ..}}}}`"
    )]
    NotAnObject(String),
    /// The provider does not take the alias as a name.
    #[error("{provider} does not take `{alias}` as the name of a tool; write `{suggestion}`")]
    Alias {
        /// The provider.
        provider: String,
        /// The refused alias.
        alias: String,
        /// The nearest name that it takes.
        suggestion: String,
    },
    /// Something was said of a tool that is not registered.
    #[error("no tool named `{0}` is registered; register it first")]
    NoSuchTool(String),
}

/// A tool, with everything that is worked out once.
pub(crate) struct RegisteredTool<S, C> {
    pub(crate) tool: Arc<dyn Tool<S, C>>,
    pub(crate) spec: ToolSpec,
    pub(crate) policy: ToolPolicy,
    pub(crate) needs: Needs,
    pub(crate) blocking: bool,
    pub(crate) recursive: bool,
    pub(crate) validator: Validator,
    /// The tool, if its types may refuse what its schema takes.
    pub(crate) asked: Option<&'static ToolDef>,
}

/// The tools that a harness has, by canonical name, in the order of registration.
///
/// ```
/// use tinyagents::prelude::*;
///
/// /// Add two numbers.
/// #[tool(read_only)]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// let mut registry: ToolRegistry<()> = ToolRegistry::new();
/// registry.register(Add)?;
/// assert!(registry.get("add").is_some());
/// assert!(registry.register(Add).is_err());
/// # Ok::<(), tinyagents::harness::tool::RegistryError>(())
/// ```
pub struct ToolRegistry<State, Ctx = ()> {
    tools: Vec<Arc<RegisteredTool<State, Ctx>>>,
    by_name: HashMap<ToolName, usize>,
    /// Tools that may change something and still run beside each other.
    promoted: HashSet<ToolName>,
    /// Per provider: canonical name to alias.
    aliases: HashMap<String, BTreeMap<ToolName, String>>,
    /// What the schemas of tools may refer to.
    resources: SchemaResources,
}

impl<State, Ctx> Default for ToolRegistry<State, Ctx> {
    fn default() -> Self {
        Self {
            tools: Vec::new(),
            by_name: HashMap::new(),
            promoted: HashSet::new(),
            aliases: HashMap::new(),
            resources: SchemaResources::new(),
        }
    }
}

impl<State, Ctx> Clone for ToolRegistry<State, Ctx> {
    fn clone(&self) -> Self {
        Self {
            tools: self.tools.clone(),
            by_name: self.by_name.clone(),
            promoted: self.promoted.clone(),
            aliases: self.aliases.clone(),
            resources: self.resources.clone(),
        }
    }
}

impl<State: Send + Sync, Ctx: Send + Sync> ToolRegistry<State, Ctx> {
    /// A registry without tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool: checks its name, compiles its schema, reads its policy.
    ///
    /// # Errors
    ///
    /// The name, the schema or what a parameter declares is refused, or the name is taken.
    pub fn register(&mut self, tool: impl Tool<State, Ctx> + 'static) -> Result<(), RegistryError> {
        let tool = self.checked(Arc::new(tool), ToolName::new)?;
        self.add(tool);
        Ok(())
    }

    /// Adds a tool that another program named and described, such as one of an MCP server. It is looked at as closely
    /// as any other, but keeps its name: that may be any that [`ToolName::external`] takes. A provider that does not
    /// take the name is shown an alias (`files.read` as `files_read`); events, results and the transcript keep the
    /// name.
    ///
    /// # Errors
    ///
    /// As [`register`](Self::register).
    pub fn register_external(&mut self, tool: impl Tool<State, Ctx> + 'static) -> Result<(), RegistryError> {
        let tool = self.checked(Arc::new(tool), ToolName::external)?;
        self.add(tool);
        Ok(())
    }

    /// Adds a schema that a `$ref` of tools registered later may name by its URI, with [`Validation::Full`].
    ///
    /// [`Validation::Full`]: super::Validation::Full
    pub fn schema_resource(&mut self, uri: impl Into<String>, schema: serde_json::Value) {
        self.resources.add(uri, schema);
    }

    /// Adds all tools of a set, in its order, or none of them.
    ///
    /// # Errors
    ///
    /// As [`register`](Self::register), for the first tool that is refused; two tools of one name in the set are
    /// refused too.
    pub fn register_all(&mut self, tools: Toolset<State, Ctx>) -> Result<(), RegistryError> {
        let mut checked: Vec<RegisteredTool<_, _>> = Vec::with_capacity(tools.len());
        let mut names = HashSet::new();
        for tool in tools {
            let tool = self.checked(tool, ToolName::new)?;
            if !names.insert(tool.spec.name.clone()) {
                return Err(RegistryError::Duplicate(tool.spec.name.to_string()));
            }
            checked.push(tool);
        }
        checked.into_iter().for_each(|tool| self.add(tool));
        Ok(())
    }

    fn checked(
        &self,
        tool: Arc<dyn Tool<State, Ctx>>,
        named: fn(Arc<str>) -> Result<ToolName, ToolNameError>,
    ) -> Result<RegisteredTool<State, Ctx>, RegistryError> {
        let mut spec = tool.spec();
        spec.name = named(spec.name.as_str().into())?;
        let name = spec.name.clone();
        if self.is_taken(name.as_str()) {
            return Err(RegistryError::Duplicate(name.to_string()));
        }
        let is_object = match spec.input_schema.get("type") {
            Some(kind) => kind == "object",
            None => false,
        };
        if !is_object {
            return Err(RegistryError::NotAnObject(name.to_string()));
        }
        let generated = tool.__generated();
        if let Some(problems) = generated.map(ToolDef::problems).filter(|problems| !problems.is_empty()) {
            return Err(RegistryError::Parameters { tool: name.to_string(), reason: problems.join("; ") });
        }
        let widths = generated.map(ToolDef::widths).unwrap_or_default();
        let validator = Validator::with_widths(&spec.input_schema, spec.validation, &self.resources, widths)
            .map_err(|error| RegistryError::Schema { tool: name.to_string(), error })?
            .with_aliases(generated.into_iter().flat_map(ToolDef::aliases));
        let (mut policy, needs) = (tool.policy(), tool.needs());
        if policy.runtime.max_concurrency == Some(0) {
            return Err(RegistryError::NoConcurrency(name.to_string()));
        }
        // A tool uses the credentials that it injects, whether it says so or not.
        for name in needs.credentials() {
            if !policy.access.credentials.iter().any(|listed| listed == name) {
                policy.access.credentials.push((*name).to_string());
            }
        }
        Ok(RegisteredTool {
            blocking: tool.is_blocking(),
            recursive: tool.is_recursive(),
            // The policy is the single source of what the specification of a tool derives from it.
            spec: spec.with_policy(&policy),
            policy,
            needs,
            validator,
            asked: generated.filter(|tool| tool.asks_types()),
            tool,
        })
    }

    fn add(&mut self, tool: RegisteredTool<State, Ctx>) {
        self.by_name.insert(tool.spec.name.clone(), self.tools.len());
        self.tools.push(Arc::new(tool));
    }

    /// Shows a tool under another name to one provider (see [`Model::provider`]). Events, results and the
    /// transcript keep the canonical name.
    ///
    /// [`Model::provider`]: crate::harness::model::Model::provider
    ///
    /// # Errors
    ///
    /// The tool does not exist, the provider is known not to take the alias, or the alias is taken by a tool or by
    /// another alias for that provider.
    pub fn alias(&mut self, provider: &str, tool: &str, alias: &str) -> Result<(), RegistryError> {
        let Some(registered) = self.registered(tool) else {
            return Err(RegistryError::NoSuchTool(tool.to_string()));
        };
        let name = registered.spec.name.clone();
        if alias.is_empty() {
            return Err(ToolNameError::Empty.into());
        }
        if let Some(suggestion) = refused(provider, alias) {
            let (provider, alias) = (provider.to_string(), alias.to_string());
            return Err(RegistryError::Alias { provider, alias, suggestion });
        }
        let aliases = self.aliases.entry(provider.to_string()).or_default();
        let doubled = aliases.iter().any(|(other, taken)| taken == alias && *other != name);
        if doubled || (self.by_name.contains_key(alias) && alias != tool) {
            return Err(RegistryError::Duplicate(alias.to_string()));
        }
        aliases.insert(name, alias.to_string());
        Ok(())
    }

    /// Lets calls of a tool that may change something run beside each other.
    ///
    /// # Errors
    ///
    /// The tool does not exist.
    pub fn promote(&mut self, tool: &str) -> Result<(), RegistryError> {
        let Some(registered) = self.registered(tool) else {
            return Err(RegistryError::NoSuchTool(tool.to_string()));
        };
        let name = registered.spec.name.clone();
        self.promoted.insert(name);
        Ok(())
    }

    fn is_taken(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
            || self.aliases.values().any(|aliases| aliases.values().any(|alias| alias == name))
    }

    fn registered(&self, name: &str) -> Option<&Arc<RegisteredTool<State, Ctx>>> {
        self.by_name.get(name).and_then(|index| self.tools.get(*index))
    }

    /// The tool of that name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool<State, Ctx>>> {
        self.registered(name).map(|registered| &registered.tool)
    }

    /// The specification of the tool of that name.
    pub fn spec(&self, name: &str) -> Option<&ToolSpec> {
        self.registered(name).map(|registered| &registered.spec)
    }

    /// How many tools there are.
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Whether there are no tools.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// The canonical names, in the order of registration.
    pub fn names(&self) -> impl Iterator<Item = &ToolName> {
        self.tools.iter().map(|registered| &registered.spec.name)
    }

    /// The tools as a model sees them, in the order of registration.
    pub fn schemas(&self) -> Vec<ToolSchema> {
        self.tools.iter().map(|registered| registered.spec.schema()).collect()
    }

    /// The policies by name, as enforcement reads them.
    pub fn policies(&self) -> BTreeMap<ToolName, ToolPolicy> {
        self.tools.iter().map(|tool| (tool.spec.name.clone(), tool.policy.clone())).collect()
    }

    /// Own names to those that a provider is shown, where they differ.
    pub(crate) fn aliases_for(&self, provider: &str) -> BTreeMap<ToolName, String> {
        let chosen = self.aliases.get(provider).cloned().unwrap_or_default();
        aliases(self.names(), chosen, names_of(provider).as_ref())
    }

    /// The tools as a model sees them under these names.
    pub(crate) fn schemas_as(&self, aliases: &BTreeMap<ToolName, String>) -> Vec<ToolSchema> {
        let mut schemas = self.schemas();
        for schema in &mut schemas {
            if let Some(alias) = aliases.get(schema.name.as_str()) {
                schema.name.clone_from(alias);
            }
        }
        schemas
    }

    /// The tools, with everything that is worked out once, in the order of registration.
    pub(crate) fn all(&self) -> impl Iterator<Item = &RegisteredTool<State, Ctx>> {
        self.tools.iter().map(|tool| &**tool)
    }

    /// The tools as one provider is shown them.
    pub(crate) fn tool_set(&self, provider: &str, dialect: &SchemaDialect) -> ToolSet<State, Ctx> {
        let aliases = self.aliases_for(provider);
        let schemas = self.schemas_as(&aliases);
        let by_shown = schemas.iter().zip(&self.tools).map(|(s, tool)| (s.name.clone(), Arc::clone(tool)));
        ToolSet {
            by_shown: by_shown.collect(),
            adapted: Arc::new(AdaptedTools::of(dialect.clone(), &schemas)),
            promoted: self.promoted.clone(),
            aliases: Arc::new(aliases),
            schemas: Arc::new(schemas),
        }
    }
}
