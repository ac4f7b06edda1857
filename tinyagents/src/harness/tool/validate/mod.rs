//! Checking arguments against a schema that was compiled once.
//!
//! Guarantee: everything wrong with a call is reported, a valid call costs no allocation, and what a schema says
//! in the enforced subset is never skipped. A schema that cannot be compiled is refused when its tool is
//! registered.
//!
//! Not here: keywords outside the subset, which are for the provider only.

pub(crate) mod canonical;
mod compile;
mod format;
pub(crate) mod nearest;
mod nulls;

pub use compile::SchemaError;

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

use super::Validation;
use canonical::type_name;
use compile::{Bounds, Extra, Node, NodeId, Rules};

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

/// A JSON Pointer as code would write it: `xs[0].name`.
fn readable(pointer: &str) -> String {
    let mut out = String::new();
    for key in pointer.split('/') {
        if !out.is_empty() && !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_digit()) {
            out.push_str(&format!("[{key}]"));
        } else {
            let dot = if out.is_empty() { "" } else { "." };
            out.push_str(&format!("{dot}{}", key.replace("~1", "/").replace("~0", "~")));
        }
    }
    nearest::shortened(&out, 100)
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
    /// Other names of properties of the root, each with the name that the schema has.
    aliases: Vec<(&'static str, &'static str)>,
}

impl Validator {
    /// Compiles a schema.
    ///
    /// # Errors
    ///
    /// The schema breaks the form of a keyword that is enforced, refers to something that does not exist or only
    /// to itself, or is nested too deeply.
    pub fn compile(schema: &Value, validation: Validation) -> Result<Self, SchemaError> {
        compile::compile(schema, validation).map(|(nodes, root)| Self { nodes, root, aliases: Vec::new() })
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
        self.check(self.root, value, &Path::Root, &mut Some(&mut problems));
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }

    /// Checks one node. Without a list of problems it stops at the first.
    fn check(&self, id: NodeId, value: &Value, path: &Path<'_>, problems: &mut Problems<'_>) -> bool {
        let Some(node) = self.nodes.get(id) else { return false };
        match node {
            Node::Any => true,
            Node::Never => report(problems, path, || ("nothing here".into(), shown(value))),
            Node::Alias(target) => self.check(*target, value, path, problems),
            Node::Rules(rules) => self.check_rules(rules, value, path, problems),
        }
    }

    fn check_rules(
        &self,
        rules: &Rules,
        value: &Value,
        path: &Path<'_>,
        problems: &mut Problems<'_>,
    ) -> bool {
        if let Some(types) = &rules.types {
            if !types.accepts(value) {
                return report(problems, path, || (types.to_string(), shown(value)));
            }
        }
        let mut ok = true;
        if let Some(allowed) = &rules.one_of_values {
            if !allowed.iter().any(|candidate| equal(candidate, value)) {
                ok &= report(problems, path, || (nearest::one_of(allowed, value), shown(value)));
            }
        }
        if let Some(target) = rules.reference {
            ok &= self.check(target, value, path, problems);
        }
        if rules.not.is_some_and(|id| self.check(id, value, path, &mut None)) {
            ok &= report(problems, path, || ("another value".into(), shown(value)));
        }
        for alternatives in &rules.any_of {
            let fits = alternatives.iter().any(|id| self.check(*id, value, path, &mut None));
            if !fits {
                ok &= report(problems, path, || (self.alternatives(alternatives), shown(value)));
            }
        }
        match value {
            Value::Object(object) => ok &= self.check_object(rules, object, path, problems),
            Value::Array(items) => ok &= self.check_array(rules, items, path, problems),
            Value::String(text) => ok &= check_text(rules, text, path, problems),
            Value::Number(number) => ok &= check_number(&rules.bounds, number, path, problems),
            _ => {}
        }
        ok
    }

    fn check_object(
        &self,
        rules: &Rules,
        object: &Map<String, Value>,
        path: &Path<'_>,
        problems: &mut Problems<'_>,
    ) -> bool {
        let mut ok = check_size(rules.bounds.properties, object.len(), "entries", path, problems);
        for name in &rules.required {
            if !object.contains_key(name) {
                let at = Path::Key(path, name);
                let expected = || rules.property(name).map_or("a value".into(), |id| self.words(id));
                ok &= report(problems, &at, || (expected(), "nothing".into()));
            }
        }
        for (name, value) in object {
            let at = Path::Key(path, name);
            let declared = rules.property(name).or_else(|| rules.by_pattern(name));
            match (declared, &rules.additional) {
                (Some(id), _) => ok &= self.check(id, value, &at, problems),
                (None, Extra::Open) => {}
                (None, Extra::Schema(id)) => ok &= self.check(*id, value, &at, problems),
                (None, Extra::Closed) => {
                    let alias = self.aliases.iter().find(|(alias, _)| alias == name);
                    ok &= report(problems, &at, || {
                        if let (Some((_, own)), Path::Root) = (alias, path) {
                            return (format!("only `{own}`"), format!("`{name}`, another name for it, too"));
                        }
                        if let Some((pattern, _)) = rules.patterns.first() {
                            return (
                                format!("names that match `{}`", pattern.as_str()),
                                shown(&name.as_str().into()),
                            );
                        }
                        let names: Vec<_> = rules.properties.iter().map(|(name, _)| name.as_str()).collect();
                        (nearest::known_names(name, &names), format!("unknown argument `{name}`"))
                    });
                }
            }
            if !ok && problems.is_none() {
                return false;
            }
        }
        ok
    }

    fn check_array(
        &self,
        rules: &Rules,
        items: &[Value],
        path: &Path<'_>,
        problems: &mut Problems<'_>,
    ) -> bool {
        let mut ok = check_size(rules.bounds.items, items.len(), "items", path, problems);
        for (index, item) in items.iter().enumerate() {
            if let Some(id) = rules.prefix.get(index).copied().or(rules.items) {
                ok &= self.check(id, item, &Path::Index(path, index), problems);
            }
            if !ok && problems.is_none() {
                return false;
            }
        }
        ok
    }

    /// A node in schema words.
    fn words(&self, id: NodeId) -> String {
        match self.nodes.get(id) {
            Some(Node::Rules(rules)) => match (&rules.one_of_values, &rules.types, &rules.any_of[..]) {
                (Some(allowed), ..) => nearest::one_of(allowed, &Value::Null),
                (None, Some(types), _) => types.to_string(),
                (None, None, [alternatives, ..]) => self.alternatives(alternatives),
                (None, None, []) => rules.reference.map_or("a value".into(), |id| self.words(id)),
            },
            _ => "a value".to_string(),
        }
    }

    fn alternatives(&self, ids: &[NodeId]) -> String {
        let mut words: Vec<String> = Vec::new();
        for id in ids.iter().take(10) {
            let word = match self.nodes.get(*id) {
                // One level is enough to choose by, and a recursive schema has no last one.
                Some(Node::Rules(rules)) if rules.types.is_none() && rules.one_of_values.is_none() => {
                    "a value".to_string()
                }
                _ => self.words(*id),
            };
            if !words.contains(&word) {
                words.push(word);
            }
        }
        words.join(" or ")
    }
}

/// Collects problems, or, if there is no list, only says that there is one.
type Problems<'a> = Option<&'a mut Vec<ArgumentProblem>>;

/// The most problems of one call that are reported: enough to mend it, and bounded.
const MAX_PROBLEMS: usize = 20;

fn report(problems: &mut Problems<'_>, path: &Path<'_>, words: impl FnOnce() -> (String, String)) -> bool {
    if let Some(problems) = problems {
        if problems.len() < MAX_PROBLEMS {
            let (expected, got) = words();
            problems.push(ArgumentProblem { path: path.to_string(), expected, got });
        }
    }
    false
}

/// Where the check stands. Lives on the stack; written out only when something is wrong.
enum Path<'a> {
    Root,
    Key(&'a Path<'a>, &'a str),
    Index(&'a Path<'a>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Key(parent, key) => write!(f, "{parent}/{}", key.replace('~', "~0").replace('/', "~1")),
            Self::Index(parent, index) => write!(f, "{parent}/{index}"),
        }
    }
}

fn check_text(rules: &Rules, text: &str, path: &Path<'_>, problems: &mut Problems<'_>) -> bool {
    let mut ok = true;
    if !rules.bounds.length.is_empty() {
        ok &= check_size(rules.bounds.length, text.chars().count(), "characters", path, problems);
    }
    let got = || nearest::shortened(&Value::from(text).to_string(), 60);
    if let Some(pattern) = rules.pattern.as_ref().filter(|pattern| !pattern.is_match(text)) {
        ok &= report(problems, path, || (format!("a text that matches `{}`", pattern.as_str()), got()));
    }
    if let Some(format) = rules.format.filter(|format| !format.accepts(text)) {
        ok &= report(problems, path, || (format.words().into(), got()));
    }
    ok
}

fn check_size(
    bounds: Bounds<usize>,
    size: usize,
    unit: &str,
    path: &Path<'_>,
    problems: &mut Problems<'_>,
) -> bool {
    if bounds.min.is_none_or(|min| size >= min) && bounds.max.is_none_or(|max| size <= max) {
        return true;
    }
    report(problems, path, || (format!("{bounds} {unit}"), format!("{size} {unit}")))
}

fn check_number(
    bounds: &compile::AllBounds,
    number: &Number,
    path: &Path<'_>,
    problems: &mut Problems<'_>,
) -> bool {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let above = |min: &Number, open: bool| match compare(number, min) {
        Some(Greater) => true,
        Some(Equal) => !open,
        _ => false,
    };
    let below = |max: &Number, open: bool| match compare(number, max) {
        Some(Less) => true,
        Some(Equal) => !open,
        _ => false,
    };
    let ok = bounds.number.min.as_ref().is_none_or(|min| above(min, false))
        && bounds.number.max.as_ref().is_none_or(|max| below(max, false))
        && bounds.open_number.min.as_ref().is_none_or(|min| above(min, true))
        && bounds.open_number.max.as_ref().is_none_or(|max| below(max, true));
    ok || report(problems, path, || {
        let mut words = Vec::new();
        if !bounds.number.is_empty() {
            words.push(format!("a number {}", bounds.number));
        }
        if !bounds.open_number.is_empty() {
            let open = [(&bounds.open_number.min, "above"), (&bounds.open_number.max, "below")];
            let open = open.iter().filter_map(|(end, word)| Some(format!("{word} {}", end.as_ref()?)));
            words.push(format!("a number {}", open.collect::<Vec<_>>().join(" and ")));
        }
        (words.join(" and "), number.to_string())
    })
}

/// Compares numbers exactly where both are integers.
fn compare(a: &Number, b: &Number) -> Option<std::cmp::Ordering> {
    match (integer(a), integer(b)) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}

fn integer(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

/// Whether a number has no fraction: `5.0` is an integer in JSON Schema.
fn is_integral(number: &Number) -> bool {
    !number.is_f64() || number.as_f64().is_some_and(|float| float.fract() == 0.0)
}

/// Equality as JSON Schema has it: by number, not by spelling, and without regard to the order of keys.
fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => compare(a, b) == Some(std::cmp::Ordering::Equal),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| equal(a, b)))
        }
        _ => a == b,
    }
}

/// A value as an error shows it: its type, and as much of it as helps.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "null".to_string(),
        Value::Object(_) | Value::Array(_) => type_name(value).to_string(),
        _ => format!("{} {}", type_name(value), nearest::shortened(&value.to_string(), 60)),
    }
}
