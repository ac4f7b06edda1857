//! From a JSON Schema to a tree that is quick to walk.

use std::collections::HashMap;
use std::fmt;

use regex_lite::Regex;
use serde_json::{Map, Number, Value};

use super::format::Format;
use crate::harness::tool::Validation;

/// Why a schema cannot be enforced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the schema at `{path}` cannot be enforced: {reason}")]
pub struct SchemaError {
    /// Where, as a JSON Pointer into the schema.
    pub path: String,
    /// What is wrong, and what to write instead.
    pub reason: String,
}

pub(super) type NodeId = usize;

/// Deeper schemas are refused: no tool needs them, and a hostile one must not exhaust the stack.
const MAX_DEPTH: usize = 64;
/// Larger schemas are refused as well.
const MAX_NODES: usize = 20_000;

#[derive(Debug)]
pub(super) enum Node {
    Any,
    Never,
    Alias(NodeId),
    Rules(Box<Rules>),
}

#[derive(Debug, Default)]
pub(super) struct Rules {
    pub(super) types: Option<Types>,
    pub(super) one_of_values: Option<Vec<Value>>,
    pub(super) reference: Option<NodeId>,
    pub(super) any_of: Vec<Vec<NodeId>>,
    pub(super) not: Option<NodeId>,
    pub(super) properties: Vec<(String, NodeId)>,
    pub(super) patterns: Vec<(Regex, NodeId)>,
    pub(super) required: Vec<String>,
    pub(super) additional: Extra,
    pub(super) prefix: Vec<NodeId>,
    pub(super) items: Option<NodeId>,
    pub(super) bounds: AllBounds,
    pub(super) pattern: Option<Regex>,
    pub(super) format: Option<Format>,
}

impl Rules {
    /// Tools have few properties: a scan beats hashing.
    pub(super) fn property(&self, name: &str) -> Option<NodeId> {
        self.properties.iter().find(|(known, _)| known == name).map(|(_, id)| *id)
    }
}

impl Rules {
    /// The first pattern that takes the name: a generated schema has one.
    pub(super) fn by_pattern(&self, name: &str) -> Option<NodeId> {
        self.patterns.iter().find(|(pattern, _)| pattern.is_match(name)).map(|(_, id)| *id)
    }
}

/// What happens to properties that are not declared.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(super) enum Extra {
    #[default]
    Open,
    Closed,
    Schema(NodeId),
}

#[derive(Debug, Default)]
pub(super) struct AllBounds {
    pub(super) number: Bounds<Number>,
    pub(super) open_number: Bounds<Number>,
    pub(super) length: Bounds<usize>,
    pub(super) items: Bounds<usize>,
    pub(super) properties: Bounds<usize>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds<T> {
    pub(super) min: Option<T>,
    pub(super) max: Option<T>,
}

impl<T> Default for Bounds<T> {
    fn default() -> Self {
        Self { min: None, max: None }
    }
}

impl<T> Bounds<T> {
    pub(super) fn is_empty(&self) -> bool {
        self.min.is_none() && self.max.is_none()
    }
}

impl<T: fmt::Display> fmt::Display for Bounds<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.min, &self.max) {
            (Some(min), Some(max)) => write!(f, "between {min} and {max}"),
            (Some(min), None) => write!(f, "at least {min}"),
            (None, Some(max)) => write!(f, "at most {max}"),
            (None, None) => Ok(()),
        }
    }
}

const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

/// A set of type names, one bit each in the order of [`TYPES`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Types(u8);

impl Types {
    fn of(name: &str) -> Option<u8> {
        TYPES.iter().position(|known| *known == name).map(|bit| 1 << bit)
    }

    pub(super) fn accepts(self, value: &Value) -> bool {
        let bits: u8 = match value {
            Value::Null => 1,
            Value::Bool(_) => 1 << 1,
            Value::Number(number) if super::is_integral(number) => 1 << 2 | 1 << 3,
            Value::Number(_) => 1 << 3,
            Value::String(_) => 1 << 4,
            Value::Array(_) => 1 << 5,
            Value::Object(_) => 1 << 6,
        };
        self.0 & bits != 0
    }
}

impl fmt::Display for Types {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        for (bit, name) in TYPES.iter().enumerate() {
            if self.0 & (1 << bit) != 0 {
                f.write_str(if first { name } else { " or " })?;
                if !first {
                    f.write_str(name)?;
                }
                first = false;
            }
        }
        Ok(())
    }
}

pub(super) fn compile(schema: &Value, validation: Validation) -> Result<(Vec<Node>, NodeId), SchemaError> {
    let declared = validation == Validation::Declared;
    let mut compiler = Compiler { document: schema, declared, nodes: Vec::new(), by_pointer: HashMap::new() };
    let root = compiler.node(schema, String::new(), 0)?;
    compiler.refuse_circles()?;
    Ok((compiler.nodes, root))
}

struct Compiler<'s> {
    document: &'s Value,
    /// Whether to enforce what an author declared beside the subset.
    declared: bool,
    nodes: Vec<Node>,
    by_pointer: HashMap<String, NodeId>,
}

impl<'s> Compiler<'s> {
    fn node(&mut self, schema: &'s Value, path: String, depth: usize) -> Result<NodeId, SchemaError> {
        if depth > MAX_DEPTH || self.nodes.len() >= MAX_NODES {
            return Err(wrong(&path, "it is too deep or too large; flatten it"));
        }
        if let Some(id) = self.by_pointer.get(&path) {
            return Ok(*id);
        }
        let id = self.nodes.len();
        self.nodes.push(Node::Never);
        self.by_pointer.insert(path.clone(), id);
        let node = match schema {
            Value::Bool(true) => Node::Any,
            Value::Bool(false) => Node::Never,
            Value::Object(object) if object.is_empty() => Node::Any,
            Value::Object(object) => self.rules(object, &path, depth)?,
            _ => return Err(wrong(&path, "a schema is an object or a boolean")),
        };
        if let Some(slot) = self.nodes.get_mut(id) {
            *slot = node;
        }
        Ok(id)
    }

    fn rules(
        &mut self,
        schema: &'s Map<String, Value>,
        path: &str,
        depth: usize,
    ) -> Result<Node, SchemaError> {
        let mut rules = Rules { types: types(schema, path)?, ..Rules::default() };
        if let Some(values) = schema.get("enum") {
            rules.one_of_values = Some(array(values, path, "enum")?.to_vec());
        }
        if let Some(target) = schema.get("$ref") {
            rules.reference = Some(self.reference(target, path, depth)?);
        }
        for (name, schema) in object(schema.get("properties"), path, "properties")? {
            let id = self.node(schema, child(path, "properties", name), depth + 1)?;
            rules.properties.push((name.clone(), id));
        }
        if let Some(required) = schema.get("required") {
            for name in array(required, path, "required")? {
                let Value::String(name) = name else {
                    return Err(wrong(path, "`required` must list property names"));
                };
                rules.required.push(name.clone());
            }
        }
        rules.additional = match schema.get("additionalProperties") {
            None | Some(Value::Bool(true)) => Extra::Open,
            // `patternProperties` may admit further names; outside the subset, so such an object stays open.
            Some(Value::Bool(false)) if !self.declared && schema.contains_key("patternProperties") => {
                Extra::Open
            }
            Some(Value::Bool(false)) => Extra::Closed,
            Some(schema) if self.declared => {
                Extra::Schema(self.node(schema, format!("{path}/additionalProperties"), depth + 1)?)
            }
            Some(_) => Extra::Open,
        };
        // With `prefixItems`, `items` speaks of the rest only.
        if let Some(prefix) = schema.get("prefixItems") {
            for (index, schema) in array(prefix, path, "prefixItems")?.iter().enumerate() {
                rules.prefix.push(self.node(schema, format!("{path}/prefixItems/{index}"), depth + 1)?);
            }
        }
        if let Some(items) = schema.get("items") {
            rules.items = Some(self.node(items, format!("{path}/items"), depth + 1)?);
        }
        if self.declared {
            self.declared_rules(&mut rules, schema, path, depth)?;
        }
        Ok(match rules {
            Rules { reference: Some(target), .. } if schema.len() == 1 => Node::Alias(target),
            rules => Node::Rules(Box::new(rules)),
        })
    }

    fn declared_rules(
        &mut self,
        rules: &mut Rules,
        schema: &'s Map<String, Value>,
        path: &str,
        depth: usize,
    ) -> Result<(), SchemaError> {
        if let Some(value) = schema.get("const") {
            rules.one_of_values = Some(vec![value.clone()]);
        }
        for keyword in ["anyOf", "oneOf"] {
            let Some(alternatives) = schema.get(keyword) else { continue };
            let mut ids = Vec::new();
            for (index, schema) in array(alternatives, path, keyword)?.iter().enumerate() {
                ids.push(self.node(schema, format!("{path}/{keyword}/{index}"), depth + 1)?);
            }
            rules.any_of.push(ids);
        }
        for (pattern, schema) in object(schema.get("patternProperties"), path, "patternProperties")? {
            let id = self.node(schema, child(path, "patternProperties", pattern), depth + 1)?;
            rules.patterns.push((regex(pattern, path)?, id));
        }
        if let Some(schema) = schema.get("not") {
            rules.not = Some(self.node(schema, format!("{path}/not"), depth + 1)?);
        }
        let number = |keyword: &str| match schema.get(keyword) {
            None => Ok(None),
            Some(Value::Number(number)) => Ok(Some(number.clone())),
            Some(_) => Err(wrong(path, &format!("`{keyword}` must be a number"))),
        };
        let size = |keyword: &str| match number(keyword)? {
            None => Ok(None),
            Some(number) => match whole(&number).and_then(|size| usize::try_from(size).ok()) {
                Some(size) => Ok(Some(size)),
                None => Err(wrong(path, &format!("`{keyword}` must be a count"))),
            },
        };
        rules.bounds = AllBounds {
            number: Bounds { min: number("minimum")?, max: number("maximum")? },
            open_number: Bounds { min: number("exclusiveMinimum")?, max: number("exclusiveMaximum")? },
            length: Bounds { min: size("minLength")?, max: size("maxLength")? },
            items: Bounds { min: size("minItems")?, max: size("maxItems")? },
            properties: Bounds { min: size("minProperties")?, max: size("maxProperties")? },
        };
        if let Some(pattern) = schema.get("pattern") {
            let Value::String(pattern) = pattern else { return Err(wrong(path, "`pattern` must be a text")) };
            rules.pattern = Some(regex(pattern, path)?);
        }
        rules.format = schema.get("format").and_then(Value::as_str).and_then(Format::of);
        Ok(())
    }

    fn reference(&mut self, target: &Value, path: &str, depth: usize) -> Result<NodeId, SchemaError> {
        let Value::String(target) = target else { return Err(wrong(path, "`$ref` must be a string")) };
        let Some(pointer) = target.strip_prefix('#') else {
            return Err(wrong(
                path,
                &format!("`$ref` `{target}` leaves the schema; write it out in `$defs`"),
            ));
        };
        let Some(schema) = self.document.pointer(pointer) else {
            return Err(wrong(path, &format!("`$ref` `{target}` points to nothing in this schema")));
        };
        self.node(schema, pointer.to_string(), depth + 1)
    }

    /// A schema that is only a reference to itself would be checked for ever.
    fn refuse_circles(&self) -> Result<(), SchemaError> {
        for start in 0..self.nodes.len() {
            let mut at = start;
            for _ in 0..=self.nodes.len() {
                at = match self.nodes.get(at) {
                    Some(Node::Alias(target)) => *target,
                    Some(Node::Rules(rules)) => match rules.reference {
                        Some(target) => target,
                        None => break,
                    },
                    _ => break,
                };
                if at == start {
                    return Err(wrong("", "a `$ref` leads back to itself"));
                }
            }
        }
        Ok(())
    }
}

fn regex(pattern: &str, path: &str) -> Result<Regex, SchemaError> {
    Regex::new(pattern).map_err(|error| {
        let text = format!(
            "the pattern `{pattern}` is no regular expression: {error}; write one without look-around, \
             back-references and `\\p{{..}}`"
        );
        wrong(path, &text)
    })
}

/// A count, also if it is spelt `2.0`.
fn whole(number: &Number) -> Option<u64> {
    number.as_u64().or_else(|| {
        let integer = super::canonical::integral_floats(&Value::Number(number.clone()))?;
        integer.as_u64()
    })
}

fn types(schema: &Map<String, Value>, path: &str) -> Result<Option<Types>, SchemaError> {
    let names: &[Value] = match schema.get("type") {
        None => return Ok(None),
        Some(Value::Array(names)) => names,
        Some(name) => std::slice::from_ref(name),
    };
    let mut bits = 0;
    for name in names {
        let bit = name.as_str().and_then(Types::of);
        bits |= bit.ok_or_else(|| wrong(path, &format!("`type` {name} is none of {}", TYPES.join(", "))))?;
    }
    Ok(Some(Types(bits)))
}

fn array<'v>(value: &'v Value, path: &str, keyword: &str) -> Result<&'v [Value], SchemaError> {
    match value {
        Value::Array(items) => Ok(items),
        _ => Err(wrong(path, &format!("`{keyword}` must be an array"))),
    }
}

fn object<'v>(
    value: Option<&'v Value>,
    path: &str,
    keyword: &str,
) -> Result<impl Iterator<Item = (&'v String, &'v Value)> + use<'v>, SchemaError> {
    match value {
        None => Ok(None.into_iter().flatten()),
        Some(Value::Object(entries)) => Ok(Some(entries).into_iter().flatten()),
        Some(_) => Err(wrong(path, &format!("`{keyword}` must be an object"))),
    }
}

fn child(path: &str, keyword: &str, name: &str) -> String {
    format!("{path}/{keyword}/{}", name.replace('~', "~0").replace('/', "~1"))
}

fn wrong(path: &str, reason: &str) -> SchemaError {
    SchemaError { path: path.to_string(), reason: reason.to_string() }
}
