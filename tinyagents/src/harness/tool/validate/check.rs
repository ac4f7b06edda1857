//! Walking a value and a compiled schema side by side.
//!
//! Guarantee: bounded in time and stack, whatever schema and value are: more steps or levels than any call needs are a
//! problem of their own.

use std::fmt;

use serde_json::{Map, Number, Value};

use super::canonical::{escaped, type_name};
use super::number::{compare, equal};
use super::rules::{AllBounds, Bounds, Extra, Node, NodeId, Rules};
use super::{ArgumentProblem, Validator, nearest};

/// More checks of one value by one rule than this are refused: a schema that refers to itself in many ways could
/// otherwise ask for any number.
pub(super) const MAX_STEPS: u32 = 5_000_000;
/// More rules within each other than this are refused. JSON that was parsed is nested 128 deep at most.
pub(super) const MAX_LEVELS: u32 = 400;
/// What is expected of a value that takes more.
pub(super) const LESS: &str = "less: the schema asks for more checks of this value than are made";

/// The most problems of one call that are reported: enough to mend it, and bounded.
pub(crate) const MAX_PROBLEMS: usize = 20;

/// Where problems go, and what is left of the bounds. Without a list, a check stops at the first problem.
pub(super) struct Report<'a> {
    problems: Option<&'a mut Vec<ArgumentProblem>>,
    steps: u32,
    levels: u32,
}

impl<'a> Report<'a> {
    pub(super) fn new(problems: Option<&'a mut Vec<ArgumentProblem>>) -> Self {
        Self { problems, steps: MAX_STEPS, levels: MAX_LEVELS }
    }

    /// Stops at the first problem, and after `steps`.
    pub(super) fn silent(steps: u32) -> Self {
        Self { problems: None, steps, levels: MAX_LEVELS }
    }

    /// How many steps are left.
    pub(super) fn steps(&self) -> u32 {
        self.steps
    }

    fn is_silent(&self) -> bool {
        self.problems.is_none()
    }

    #[cold]
    pub(super) fn add(&mut self, path: &Path<'_>, words: impl FnOnce() -> (String, String)) -> bool {
        if let Some(problems) = &mut self.problems {
            if problems.len() < MAX_PROBLEMS {
                let (expected, got) = words();
                problems.push(ArgumentProblem { path: path.to_string(), expected, got });
            }
        }
        false
    }

    fn take_steps(&mut self, steps: usize) {
        self.steps = self.steps.saturating_sub(u32::try_from(steps).unwrap_or(u32::MAX));
    }
}

impl Validator {
    /// Checks one node. Without a list of problems it stops at the first.
    pub(super) fn check(&self, id: NodeId, value: &Value, path: &Path<'_>, report: &mut Report<'_>) -> bool {
        let Some(node) = self.nodes.get(id) else { return false };
        if report.steps == 0 || report.levels == 0 {
            report.steps = 0;
            return report.add(path, || (LESS.into(), shown(value)));
        }
        report.steps -= 1;
        match node {
            Node::Any => true,
            Node::Never => report.add(path, || ("nothing here".into(), shown(value))),
            Node::Alias(target) => {
                report.levels -= 1;
                let ok = self.check(*target, value, path, report);
                report.levels += 1;
                ok
            }
            Node::Rules(rules) => {
                report.levels -= 1;
                let ok = self.check_rules(rules, value, path, report);
                report.levels += 1;
                ok
            }
        }
    }

    fn check_rules(&self, rules: &Rules, value: &Value, path: &Path<'_>, report: &mut Report<'_>) -> bool {
        if let Some(types) = rules.types {
            if !types.accepts(value) {
                return report.add(path, || (types.to_string(), shown(value)));
            }
        }
        let mut ok = true;
        if let Some(allowed) = &rules.one_of_values {
            report.take_steps(allowed.len());
            if !allowed.iter().any(|candidate| equal(candidate, value)) {
                ok &= report.add(path, || (nearest::one_of(allowed, value), shown(value)));
            }
        }
        if let Some(target) = rules.reference {
            ok &= self.check(target, value, path, report);
        }
        if let Some(id) = rules.not {
            let mut silent = Report { problems: None, ..*report };
            let fits = self.check(id, value, path, &mut silent);
            report.steps = silent.steps;
            // Out of steps, nothing is known to differ.
            if fits || report.steps == 0 {
                ok &= report.add(path, || ("another value".into(), shown(value)));
            }
        }
        for alternatives in &rules.any_of {
            let mut silent = Report { problems: None, ..*report };
            let fits = alternatives.iter().any(|id| self.check(*id, value, path, &mut silent));
            report.steps = silent.steps;
            if !fits {
                ok &= !report.is_silent() && self.no_alternative(alternatives, value, path, report);
            }
        }
        match value {
            Value::Object(object) => ok &= self.check_object(rules, object, path, report),
            Value::Array(items) => ok &= self.check_array(rules, items, path, report),
            Value::String(text) => ok &= check_text(rules, text, path, report),
            Value::Number(number) => ok &= check_number(rules, number, path, report),
            _ => {}
        }
        ok
    }

    fn check_object(
        &self,
        rules: &Rules,
        object: &Map<String, Value>,
        path: &Path<'_>,
        report: &mut Report<'_>,
    ) -> bool {
        let mut ok = check_size(rules.bounds.properties, object.len(), "entries", path, report);
        if !rules.has_required(object) {
            report.take_steps(rules.required.len());
            for name in rules.required.iter().filter(|name| !object.contains_key(*name)) {
                let at = Path::Key(path, name);
                let expected = || rules.property(name).map_or("a value".into(), |id| self.words(id));
                ok &= report.add(&at, || (expected(), "nothing".into()));
            }
        }
        let mut next = 0;
        for (name, value) in object {
            let at = Path::Key(path, name);
            let declared = rules.find(name, &mut next).map(|property| property.node);
            match (declared.or_else(|| rules.by_pattern(name)), rules.additional) {
                (Some(id), _) => ok &= self.check(id, value, &at, report),
                (None, Extra::Open | Extra::Silent) => {}
                (None, Extra::Schema(id)) => ok &= self.check(id, value, &at, report),
                (None, Extra::Closed) => {
                    ok &= report.add(&at, || self.unknown(rules, name, matches!(path, Path::Root)));
                }
            }
            if !ok && report.is_silent() {
                return false;
            }
        }
        ok
    }

    /// What is expected in place of a key that is not declared, and what came.
    fn unknown(&self, rules: &Rules, name: &str, at_root: bool) -> (String, String) {
        let alias = self.aliases.iter().find(|(alias, _)| *alias == name);
        if let (Some((_, own)), true) = (alias, at_root) {
            return (format!("only `{own}`"), format!("`{name}`, another name for it, too"));
        }
        if let Some((pattern, _)) = rules.patterns.first() {
            return (
                format!("names that match `{}`", nearest::shortened(pattern.as_str(), 200)),
                shown(&name.into()),
            );
        }
        let names: Vec<_> = rules.properties.iter().map(|property| property.name.as_str()).collect();
        (nearest::known_names(name, &names), format!("unknown argument `{}`", nearest::quoted(name, 60)))
    }

    fn check_array(&self, rules: &Rules, items: &[Value], path: &Path<'_>, report: &mut Report<'_>) -> bool {
        let mut ok = check_size(rules.bounds.items, items.len(), "items", path, report);
        for (index, item) in items.iter().enumerate() {
            if let Some(id) = rules.item(index) {
                ok &= self.check(id, item, &Path::Index(path, index), report);
            }
            if !ok && report.is_silent() {
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

    /// Alternatives in schema words; objects with what they must have, because alternatives differ in that.
    pub(super) fn alternatives(&self, ids: &[NodeId]) -> String {
        let mut words: Vec<String> = Vec::new();
        for id in ids.iter().take(10) {
            let word = match self.nodes.get(*id) {
                // One level is enough to choose by, and a recursive schema has no last one.
                Some(Node::Rules(rules)) if rules.types.is_none() && rules.one_of_values.is_none() => {
                    "a value".to_string()
                }
                Some(Node::Rules(rules)) if rules.one_of_values.is_none() && !rules.required.is_empty() => {
                    let names = nearest::names(rules.required.iter().map(String::as_str));
                    format!("{} with {names}", self.words(*id))
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

/// Where the check stands. Lives on the stack; written out only when something is wrong.
pub(crate) enum Path<'a> {
    Root,
    Key(&'a Path<'a>, &'a str),
    Index(&'a Path<'a>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Key(parent, key) => write!(f, "{parent}/{}", escaped(key)),
            Self::Index(parent, index) => write!(f, "{parent}/{index}"),
        }
    }
}

fn check_text(rules: &Rules, text: &str, path: &Path<'_>, report: &mut Report<'_>) -> bool {
    let mut ok = true;
    if !rules.bounds.length.is_empty() {
        ok &= check_size(rules.bounds.length, text.chars().count(), "characters", path, report);
    }
    let got = || nearest::shortened(&Value::from(text).to_string(), 60);
    if let Some(pattern) = rules.pattern.as_ref().filter(|pattern| !pattern.is_match(text)) {
        ok &= report.add(path, || {
            (format!("a text that matches `{}`", nearest::shortened(pattern.as_str(), 200)), got())
        });
    }
    if let Some(format) = rules.format.filter(|format| !format.accepts(text)) {
        ok &= report.add(path, || (format.words().into(), got()));
    }
    ok
}

fn check_size(
    bounds: Bounds<usize>,
    size: usize,
    unit: &str,
    path: &Path<'_>,
    report: &mut Report<'_>,
) -> bool {
    if bounds.min.is_none_or(|min| size >= min) && bounds.max.is_none_or(|max| size <= max) {
        return true;
    }
    report.add(path, || (format!("{bounds} {unit}"), format!("{size} {unit}")))
}

fn check_number(rules: &Rules, number: &Number, path: &Path<'_>, report: &mut Report<'_>) -> bool {
    use std::cmp::Ordering::{Equal, Greater, Less};
    if let Some(width) = rules.width.filter(|width| !width.holds(number)) {
        return report.add(path, || (width.to_string(), number.to_string()));
    }
    let bounds: &AllBounds = &rules.bounds;
    if bounds.number.is_empty() && bounds.open_number.is_empty() {
        return true;
    }
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
    ok || report.add(path, || {
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

/// A value as an error shows it: its type, and as much of it as helps.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::Null => "null".to_string(),
        Value::Object(_) | Value::Array(_) => type_name(value).to_string(),
        _ => format!("{} {}", type_name(value), nearest::shortened(&value.to_string(), 60)),
    }
}
