//! Checking arguments against a schema that was compiled once.
//!
//! Guarantee: everything wrong with a call is reported, a valid call costs no allocation, and what a schema says
//! in the enforced subset is never skipped. A schema that cannot be compiled is refused when its tool is
//! registered.
//!
//! Not here: keywords outside the subset, unless [`Validation::Full`] is asked for.

mod alternative;
mod bounded;
pub(crate) mod canonical;
mod check;
mod compile;
#[cfg(feature = "full-validation")]
mod cost;
mod format;
mod full;
pub(crate) mod keywords;
pub(crate) mod nearest;
mod nulls;
mod number;
mod quick;
mod rules;
mod shape;

pub(crate) use check::{MAX_PROBLEMS, Path, shown};
pub use compile::SchemaError;
pub use full::SchemaResources;
pub(crate) use number::Width;
pub(crate) use shape::Shape;

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Validation;
use check::Report;
use full::Full;
use quick::Quick;
use rules::{Extra, Node, NodeId};

/// One thing that is wrong with a call's arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArgumentProblem {
    /// Where, as a JSON Pointer (RFC 6901); empty for the arguments as a whole.
    pub path: String,
    /// What the schema asks for, in schema words.
    pub expected: String,
    /// What came, shortened.
    pub got: String,
}

impl fmt::Display for ArgumentProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.strip_prefix('/') {
            None => f.write_str("the arguments")?,
            Some(path) => write!(f, "`{}`", readable(path))?,
        }
        write!(f, ": expected {}, got {}", self.expected, self.got)
    }
}

/// A JSON Pointer as code would write it: `xs[0].name`, `map["a.b"]`.
fn readable(pointer: &str) -> String {
    let mut out = String::new();
    for key in pointer.split('/') {
        let name = nearest::quoted(&key.replace("~1", "/").replace("~0", "~"), 60);
        if out.is_empty() {
            out = name;
        } else if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()) {
            out.push_str(&format!("[{name}]"));
        } else if name.is_empty() || name.contains(['.', '[']) {
            out.push_str(&format!("[\"{name}\"]"));
        } else {
            out.push_str(&format!(".{name}"));
        }
    }
    // The end says most.
    match out.char_indices().rev().nth(199) {
        Some((from @ 1.., _)) => format!("…{}", out.get(from..).unwrap_or_default()),
        _ => out,
    }
}

/// A compiled schema.
///
/// ```
/// use tinyagents::harness::tool::{Validation, Validator};
/// use tinyagents::serde_json::json;
///
/// let schema = json!({
///     "type": "object",
///     "properties": { "limit": { "type": "integer" } },
///     "required": ["limit"]
/// });
/// let validator = Validator::compile(&schema, Validation::Subset)?;
/// assert!(validator.validate(&json!({ "limit": 5 })).is_ok());
/// let problems = validator.validate(&json!({ "limit": "five" })).unwrap_err();
/// assert_eq!(problems[0].path, "/limit");
/// # Ok::<(), tinyagents::harness::tool::SchemaError>(())
/// ```
#[derive(Debug)]
pub struct Validator {
    nodes: Vec<Node>,
    root: NodeId,
    quick: Quick,
    /// Whether an object declares fields and is silent about others.
    silent: bool,
    /// Other names of properties of the root, each with the name that the schema has.
    aliases: Vec<(&'static str, &'static str)>,
    /// What the schema says beside the subset, if all of it is enforced.
    full: Option<Box<Full>>,
}

impl Validator {
    /// Compiles a schema that refers to nothing outside itself.
    ///
    /// # Errors
    ///
    /// The schema breaks the form of a keyword that is enforced, refers to something that does not exist or only
    /// to itself, or is too deep or too large. [`Validation::Full`] without the feature `full-validation` is refused.
    pub fn compile(schema: &Value, validation: Validation) -> Result<Self, SchemaError> {
        Self::compile_with(schema, validation, &SchemaResources::new())
    }

    /// Compiles a schema that may refer to `resources`, which only [`Validation::Full`] does.
    ///
    /// # Errors
    ///
    /// As [`compile`](Self::compile); a reference to a URI that is not among the resources is refused too.
    pub fn compile_with(
        schema: &Value,
        validation: Validation,
        resources: &SchemaResources,
    ) -> Result<Self, SchemaError> {
        Self::with_widths(schema, validation, resources, &[])
    }

    /// Compiles a schema with the widths of the numbers in it by JSON Pointer.
    pub(crate) fn with_widths(
        schema: &Value,
        validation: Validation,
        resources: &SchemaResources,
        widths: &[(String, Width)],
    ) -> Result<Self, SchemaError> {
        let (nodes, root) = compile::compile(schema, validation, widths)?;
        let full = match validation {
            Validation::Full => Some(Box::new(Full::compile(schema, resources)?)),
            Validation::Subset | Validation::Declared => None,
        };
        let silent = |node: &Node| matches!(node, Node::Rules(rules) if rules.additional == Extra::Silent);
        Ok(Self {
            silent: nodes.iter().any(silent),
            quick: Quick::of(&nodes, root),
            nodes,
            root,
            aliases: Vec::new(),
            full,
        })
    }

    /// Takes other names for properties of the root.
    pub(crate) fn with_aliases(
        mut self,
        aliases: impl IntoIterator<Item = (&'static str, &'static str)>,
    ) -> Self {
        self.aliases = aliases.into_iter().collect();
        self
    }

    /// The arguments with the schema's names in place of their other names. Nothing if there are none, which is the
    /// usual case. A value under two names stays under both, and is refused.
    pub(crate) fn with_own_names(&self, arguments: &Value) -> Option<Value> {
        let Value::Object(object) = arguments else { return None };
        let own = |key: &str| {
            let (_, name) = self.aliases.iter().find(|(alias, _)| *alias == key)?;
            let names = self.aliases.iter().filter(|(_, other)| other == name).map(|(alias, _)| *alias);
            let given = names.chain([*name]).filter(|name| object.contains_key(*name)).count();
            (given == 1).then_some(*name)
        };
        object.keys().any(|key| own(key).is_some()).then(|| {
            let named = object
                .iter()
                .map(|(key, value)| (own(key).map_or_else(|| key.clone(), str::to_owned), value.clone()));
            Value::Object(named.collect())
        })
    }

    /// Checks a value.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it, in the order of the schema.
    pub fn validate(&self, value: &Value) -> Result<(), Vec<ArgumentProblem>> {
        let mut problems = Vec::new();
        if !self.fits(&self.quick, value, &mut Report::new(None)) {
            self.check(self.root, value, &Path::Root, &mut Report::new(Some(&mut problems)));
        }
        if let Some(full) = &self.full {
            full.report(value, &mut problems);
        }
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }
}
