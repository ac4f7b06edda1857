//! Tools that are handed over together.
//!
//! Guarantee: the order in which tools were added is kept, and a registry takes all of them or none.
//!
//! Not here: whether names and schemas are good, which the registry checks when it takes them.

use std::fmt;
use std::sync::Arc;

use super::{Tool, ToolName};

/// An ordered set of tools, which [`AgentHarness::register_tools`] takes at once.
///
/// [`toolset!`](crate::toolset) builds one from tools and other sets; `#[tools]` on an impl block writes a function
/// that gives one.
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
/// /// Negate a number.
/// #[tool(read_only)]
/// fn negate(a: i64) -> i64 {
///     -a
/// }
///
/// let mut harness: AgentHarness<()> = AgentHarness::new();
/// harness.register_tools(Toolset::new().with(Add).with(Negate))?;
/// assert_eq!(harness.tools().len(), 2);
/// # Ok::<(), tinyagents::TinyAgentsError>(())
/// ```
///
/// [`AgentHarness::register_tools`]: crate::harness::runtime::AgentHarness::register_tools
pub struct Toolset<State, Ctx = ()> {
    tools: Vec<Arc<dyn Tool<State, Ctx>>>,
}

impl<State, Ctx> Toolset<State, Ctx> {
    /// A set without tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool at the end.
    #[must_use]
    pub fn with(mut self, tool: impl Tool<State, Ctx> + 'static) -> Self {
        self.tools.push(Arc::new(tool));
        self
    }

    /// Adds the tools of another set at the end.
    #[must_use]
    pub fn with_all(mut self, tools: Self) -> Self {
        self.tools.extend(tools);
        self
    }

    /// How many tools there are.
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Whether there are no tools.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// The tools, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Arc<dyn Tool<State, Ctx>>> {
        self.tools.iter()
    }

    /// The names by which a model calls the tools, in order.
    pub fn names(&self) -> impl Iterator<Item = ToolName> {
        self.tools.iter().map(|tool| tool.spec().name)
    }
}

impl<State, Ctx> Default for Toolset<State, Ctx> {
    fn default() -> Self {
        Self { tools: Vec::new() }
    }
}

impl<State, Ctx> Clone for Toolset<State, Ctx> {
    fn clone(&self) -> Self {
        Self { tools: self.tools.clone() }
    }
}

impl<State, Ctx> fmt::Debug for Toolset<State, Ctx> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.tools.iter().map(|tool| tool.spec().name)).finish()
    }
}

impl<State, Ctx> FromIterator<Arc<dyn Tool<State, Ctx>>> for Toolset<State, Ctx> {
    fn from_iter<I: IntoIterator<Item = Arc<dyn Tool<State, Ctx>>>>(tools: I) -> Self {
        Self { tools: tools.into_iter().collect() }
    }
}

impl<State, Ctx> Extend<Arc<dyn Tool<State, Ctx>>> for Toolset<State, Ctx> {
    fn extend<I: IntoIterator<Item = Arc<dyn Tool<State, Ctx>>>>(&mut self, tools: I) {
        self.tools.extend(tools);
    }
}

impl<State, Ctx> IntoIterator for Toolset<State, Ctx> {
    type Item = Arc<dyn Tool<State, Ctx>>;
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.tools.into_iter()
    }
}

impl<'a, State, Ctx> IntoIterator for &'a Toolset<State, Ctx> {
    type Item = &'a Arc<dyn Tool<State, Ctx>>;
    type IntoIter = std::slice::Iter<'a, Arc<dyn Tool<State, Ctx>>>;

    fn into_iter(self) -> Self::IntoIter {
        self.tools.iter()
    }
}

/// What may stand in [`toolset!`](crate::toolset): a tool, or a [`Toolset`]. `Kind` tells the two apart.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a tool nor a set of tools",
    label = "this can be no part of a set",
    note = "`#[tool]` on a function `search` writes the tool `Search`, which is what stands in a set"
)]
pub trait ToolsetEntry<State, Ctx, Kind> {
    /// Adds the tool, or the tools, at the end of a set.
    fn add_to(self, tools: Toolset<State, Ctx>) -> Toolset<State, Ctx>;
}

/// The kind of an entry that is one tool.
#[derive(Debug, Clone, Copy)]
pub struct OneTool;

/// The kind of an entry that is a set.
#[derive(Debug, Clone, Copy)]
pub struct ManyTools;

impl<State, Ctx, T: Tool<State, Ctx> + 'static> ToolsetEntry<State, Ctx, OneTool> for T {
    fn add_to(self, tools: Toolset<State, Ctx>) -> Toolset<State, Ctx> {
        tools.with(self)
    }
}

impl<State, Ctx> ToolsetEntry<State, Ctx, ManyTools> for Toolset<State, Ctx> {
    fn add_to(self, tools: Toolset<State, Ctx>) -> Toolset<State, Ctx> {
        tools.with_all(self)
    }
}

/// A tool's name where a type has none in a constant: a tool that was written by hand.
pub trait Unnamed {
    /// No name.
    const NAME: &'static str = "";
}

impl<T: ?Sized> Unnamed for T {}

/// Whether no name before that at `index` equals it. Empty names are not known, so they equal none.
pub const fn is_first(names: &[&str], index: usize) -> bool {
    let mut before = 0;
    while before < index && before < names.len() {
        if same(names, before, index) {
            return false;
        }
        before += 1;
    }
    true
}

#[allow(clippy::indexing_slicing, reason = "constants have no other way, and the bounds are checked first")]
const fn same(names: &[&str], a: usize, b: usize) -> bool {
    if b >= names.len() {
        return false;
    }
    let (a, b) = (names[a].as_bytes(), names[b].as_bytes());
    if a.len() != b.len() || a.is_empty() {
        return false;
    }
    let mut at = 0;
    while at < a.len() {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::is_first;

    #[test]
    fn the_second_of_a_name_is_found() {
        let names = ["a", "ab", "", "b", "ab", ""];
        let first: Vec<_> = (0..names.len()).map(|index| is_first(&names, index)).collect();
        assert_eq!(first, [true, true, true, true, false, true]);
    }
}
