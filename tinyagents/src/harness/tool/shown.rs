//! The tools of a run, as its provider is shown them.
//!
//! Guarantee: worked out once for a set of tools and a provider; what the provider knows by another name or in another
//! form is mapped back before anything else sees it.

use std::collections::BTreeMap;
use std::sync::Arc;

use foldhash::{HashMap, HashSet};

use super::dialect::{AdaptedTool, SchemaDialect};
use super::registry::RegisteredTool;
use super::{JsonSchema, ToolCall, ToolName, ToolSchema};

/// Declarations in the dialect of a provider.
///
/// Hooks see and change the declarations of a request; what was worked out here holds only for those they left as they
/// are.
#[derive(Debug, Clone, PartialEq)]
pub struct AdaptedTools {
    dialect: SchemaDialect,
    /// By the name that the provider is shown; beside each the schema that it was made of.
    tools: HashMap<String, (JsonSchema, AdaptedTool)>,
}

impl Default for AdaptedTools {
    fn default() -> Self {
        Self::of(SchemaDialect::canonical(), &[])
    }
}

impl AdaptedTools {
    /// Writes declarations in a dialect.
    pub fn of(dialect: SchemaDialect, tools: &[ToolSchema]) -> Self {
        let adapted = dialect.adapt_all(tools).tools;
        let pairs = tools.iter().zip(adapted);
        let tools = pairs.map(|(tool, adapted)| (tool.name.clone(), (tool.parameters.clone(), adapted)));
        Self { tools: tools.collect(), dialect }
    }

    /// The dialect.
    pub fn dialect(&self) -> &SchemaDialect {
        &self.dialect
    }

    /// A declaration in the dialect, if it was among those that were written and has still the same schema.
    pub fn get(&self, tool: &ToolSchema) -> Option<&AdaptedTool> {
        let (schema, adapted) = self.tools.get(&tool.name)?;
        schema.is_same(&tool.parameters).then_some(adapted)
    }
}

/// The tools of one run, as its provider is shown them.
pub(crate) struct ToolSet<S, C> {
    /// The declarations, shared with every request.
    pub(crate) schemas: Arc<Vec<ToolSchema>>,
    /// Canonical names to the names that this provider is shown.
    pub(crate) aliases: Arc<BTreeMap<ToolName, String>>,
    /// The declarations in the provider's dialect.
    pub(crate) adapted: Arc<AdaptedTools>,
    pub(super) by_shown: HashMap<String, Arc<RegisteredTool<S, C>>>,
    pub(super) promoted: HashSet<ToolName>,
}

impl<S, C> ToolSet<S, C> {
    /// The tool that a name of a reply means: the canonical name, or the one that the provider was shown.
    pub(crate) fn canonical(&self, shown: &str) -> Option<&ToolName> {
        self.by_shown.get(shown).map(|tool| &tool.spec.name)
    }

    /// From the name and the arguments that a provider's dialect makes a model write to the tool's own.
    pub(crate) fn map_back(&self, call: &mut ToolCall) {
        let Some(tool) = self.by_shown.get(call.name.as_str()) else { return };
        if call.name != tool.spec.name.as_str() {
            call.name = tool.spec.name.to_string();
        }
        let (dialect, canonical) = (self.adapted.dialect(), &tool.spec.input_schema);
        if call.invalid.is_none() && dialect.may_map(&call.arguments, canonical) {
            call.arguments = dialect.map_back(call.arguments.to_value(), canonical).into();
        }
    }

    /// Some of the tools.
    pub(crate) fn narrowed(&self, keep: impl Fn(&RegisteredTool<S, C>) -> bool) -> Self {
        let kept = |name: &str| self.by_shown.get(name).filter(|tool| keep(tool));
        let schemas = self.schemas.iter().filter(|schema| kept(&schema.name).is_some()).cloned().collect();
        let by_shown = self.by_shown.iter().filter(|(name, _)| kept(name).is_some());
        Self {
            schemas: Arc::new(schemas),
            aliases: Arc::clone(&self.aliases),
            adapted: Arc::clone(&self.adapted),
            by_shown: by_shown.map(|(name, tool)| (name.clone(), Arc::clone(tool))).collect(),
            promoted: self.promoted.clone(),
        }
    }

    /// Whether calls of a tool that may change something may run beside each other.
    pub(crate) fn is_promoted(&self, name: &ToolName) -> bool {
        self.promoted.contains(name)
    }

    /// All tools, in the order of registration.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<RegisteredTool<S, C>>> {
        self.schemas.iter().filter_map(|schema| self.by_shown.get(&schema.name))
    }

    /// The name that this provider is shown for a canonical one.
    pub(crate) fn shown<'a>(&'a self, name: &'a str) -> &'a str {
        self.aliases.get(name).map_or(name, String::as_str)
    }

    /// The tool of a canonical name.
    pub(crate) fn get(&self, name: &str) -> Option<&Arc<RegisteredTool<S, C>>> {
        self.by_shown.get(self.shown(name))
    }

    /// The tool of a canonical name, if `advertised` shows it.
    pub(crate) fn advertised(
        &self,
        name: &str,
        advertised: &[ToolSchema],
    ) -> Option<&Arc<RegisteredTool<S, C>>> {
        let shown = self.shown(name);
        self.get(name).filter(|_| advertised.iter().any(|schema| schema.name == shown))
    }
}
