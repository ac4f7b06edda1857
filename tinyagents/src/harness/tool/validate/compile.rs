//! From a JSON Schema to a tree that is quick to walk.

use std::collections::HashMap;

use regex_lite::{Regex, RegexBuilder};
use serde_json::{Map, Value};

use super::bounded::bounded;
use super::canonical::child;
use super::format::Format;
use super::nearest;
use super::number::{Width, whole};
use super::rules::{AllBounds, Bounds, Extra, Node, NodeId, Rules, TYPES, Types};
use crate::harness::tool::Validation;

/// Why a schema cannot be enforced. Both texts are bounded, whatever the schema holds.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the schema at `{path}` cannot be enforced: {reason}")]
pub struct SchemaError {
    /// Where, as a JSON Pointer into the schema; a long one is cut, and ends in `…`.
    pub path: String,
    /// What is wrong, and what to write instead.
    pub reason: String,
}

/// Deeper schemas are refused: no tool needs them, and a hostile one must not exhaust the stack.
pub(super) const MAX_DEPTH: usize = 64;
/// Larger schemas are refused as well.
pub(super) const MAX_NODES: usize = 20_000;
/// The paths of all parts together, in bytes: long names within each other would make many long ones.
const MAX_PATHS: usize = 200 * MAX_NODES;
/// More references than this, one leading to the next without a step into the value, are refused.
pub(super) const MAX_CHAIN: usize = 64;
/// What is said of it.
pub(super) const CIRCLE: &str = "it leads back to itself without a step into the value; let the `$ref` pass through \
                                 `properties` or `items`";
/// A pattern longer than this, in bytes, is refused; and one that takes more when it is compiled.
const MAX_PATTERN: usize = 4_096;
const MAX_COMPILED_PATTERN: usize = 1 << 20;

pub(super) fn compile(
    schema: &Value,
    validation: Validation,
    widths: &[(String, Width)],
) -> Result<(Vec<Node>, NodeId), SchemaError> {
    let mut compiler = Compiler {
        document: schema,
        declared: validation == Validation::Declared,
        full: validation == Validation::Full,
        follows_pointers: true,
        widths: widths.iter().map(|(path, width)| (path.as_str(), *width)).collect(),
        nodes: Vec::new(),
        by_pointer: HashMap::new(),
        path_bytes: 0,
    };
    bounded(schema)?;
    if validation == Validation::Full {
        compiler.follows_pointers = !names_resources(schema);
    }
    let root = compiler.node(schema, String::new(), 0)?;
    compiler.bound_references()?;
    Ok((compiler.nodes, root))
}

struct Compiler<'s> {
    document: &'s Value,
    /// Whether to enforce what an author declared beside the subset.
    declared: bool,
    /// Whether every keyword is enforced elsewhere, so that what is not understood here may be left out.
    full: bool,
    /// Whether a JSON Pointer in a `$ref` starts at the document's root.
    follows_pointers: bool,
    widths: HashMap<&'s str, Width>,
    nodes: Vec<Node>,
    by_pointer: HashMap<String, NodeId>,
    path_bytes: usize,
}

impl<'s> Compiler<'s> {
    fn node(&mut self, schema: &'s Value, path: String, depth: usize) -> Result<NodeId, SchemaError> {
        if let Some(id) = self.by_pointer.get(&path) {
            return Ok(*id);
        }
        self.path_bytes += path.len();
        if depth > MAX_DEPTH || self.nodes.len() >= MAX_NODES || self.path_bytes > MAX_PATHS {
            return Err(too_large(&path));
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
            rules.reference = self.reference(target, path, depth)?;
        }
        let (mut properties, mut names) = (Vec::new(), Vec::new());
        for (name, schema) in object(schema.get("properties"), path, "properties")? {
            let id = self.node(schema, child(path, "properties", name), depth + 1)?;
            properties.push((name.clone(), id));
        }
        if let Some(required) = schema.get("required") {
            for name in array(required, path, "required")? {
                let Value::String(name) = name else {
                    return Err(wrong(path, "`required` must list property names"));
                };
                names.push(name.clone());
            }
        }
        rules.declare(properties, names);
        rules.width = self.widths.get(path).copied();
        rules.additional = match schema.get("additionalProperties") {
            None if is_silent(schema) => Extra::Silent,
            None | Some(Value::Bool(true)) => Extra::Open,
            // `patternProperties` may admit further names; outside the subset, so such an object stays open.
            Some(_) if !self.declared && schema.contains_key("patternProperties") => Extra::Open,
            Some(Value::Bool(false)) => Extra::Closed,
            Some(schema) => {
                Extra::Schema(self.node(schema, format!("{path}/additionalProperties"), depth + 1)?)
            }
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

    /// What a `$ref` means; nothing if it is left to the crate that enforces every keyword.
    fn reference(&mut self, target: &Value, path: &str, depth: usize) -> Result<Option<NodeId>, SchemaError> {
        let Value::String(target) = target else { return Err(wrong(path, "`$ref` must be a string")) };
        let pointer =
            target.strip_prefix('#').filter(|pointer| pointer.is_empty() || pointer.starts_with('/'));
        if self.full && (pointer.is_none() || !self.follows_pointers) {
            return Ok(None);
        }
        let Some(pointer) = pointer else {
            let text = format!(
                "`$ref` `{}` leaves the schema or names an anchor; write it out in `$defs`",
                nearest::shortened(target, 100)
            );
            return Err(wrong(path, &text));
        };
        let pointer = unescaped(pointer);
        let Some(schema) = pointer.as_deref().and_then(|pointer| self.document.pointer(pointer)) else {
            let text =
                format!("`$ref` `{}` points to nothing in this schema", nearest::shortened(target, 100));
            return Err(wrong(path, &text));
        };
        self.node(schema, pointer.unwrap_or_default(), depth + 1).map(Some)
    }

    /// Refuses a schema that would be checked for ever, or by very many rules, without a step into the value.
    fn bound_references(&self) -> Result<(), SchemaError> {
        // How many references follow each node; `None` while they are counted.
        let mut lengths: HashMap<NodeId, Option<usize>> = HashMap::new();
        for start in 0..self.nodes.len() {
            if lengths.contains_key(&start) {
                continue;
            }
            let open = |node: NodeId| (node, self.nodes.get(node).map(in_place).unwrap_or_default(), 0);
            lengths.insert(start, None);
            let mut stack = vec![open(start)];
            while let Some((node, targets, longest)) = stack.last_mut() {
                let Some(target) = targets.last().copied() else {
                    lengths.insert(*node, Some(*longest));
                    stack.pop();
                    continue;
                };
                match lengths.get(&target) {
                    Some(Some(length)) => {
                        *longest = (*longest).max(length + 1);
                        targets.pop();
                    }
                    Some(None) => {
                        return Err(wrong(self.place(target), CIRCLE));
                    }
                    None => {
                        lengths.insert(target, None);
                        stack.push(open(target));
                    }
                }
                if stack.len() > MAX_CHAIN || stack.last().is_some_and(|(.., longest)| *longest > MAX_CHAIN) {
                    let text = "too many `$ref`s lead from one to the next; refer to the last of them";
                    return Err(wrong(self.place(start), text));
                }
            }
        }
        Ok(())
    }

    fn place(&self, node: NodeId) -> &str {
        self.by_pointer.iter().find(|(_, id)| **id == node).map_or("", |(path, _)| path)
    }
}

/// The nodes that check the same value as this one.
fn in_place(node: &Node) -> Vec<NodeId> {
    match node {
        Node::Alias(target) => vec![*target],
        Node::Rules(rules) => {
            let own = rules.reference.iter().chain(&rules.not);
            own.chain(rules.any_of.iter().flatten()).copied().collect()
        }
        Node::Any | Node::Never => Vec::new(),
    }
}

/// A JSON Pointer without the escapes of a URI; nothing if they are no text.
fn unescaped(pointer: &str) -> Option<String> {
    if !pointer.contains('%') {
        return Some(pointer.to_string());
    }
    let mut bytes = Vec::with_capacity(pointer.len());
    let mut rest = pointer.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (digits, after) = rest.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

pub(super) fn too_large(path: &str) -> SchemaError {
    wrong(path, "it is too deep or too large; flatten it")
}

/// Whether a part of a schema is a resource of its own, so that a JSON Pointer may start there.
fn names_resources(schema: &Value) -> bool {
    let parts: Vec<&Value> = match schema {
        Value::Object(entries) => entries.values().collect(),
        Value::Array(items) => items.iter().collect(),
        _ => return false,
    };
    parts.into_iter().any(|part| part.get("$id").is_some() || names_resources(part))
}

/// Whether an object declares fields, and nothing in its schema could admit further ones.
fn is_silent(schema: &Map<String, Value>) -> bool {
    const ADMIT: [&str; 10] = [
        "patternProperties",
        "unevaluatedProperties",
        "propertyNames",
        "allOf",
        "anyOf",
        "oneOf",
        "$ref",
        "if",
        "dependentSchemas",
        "$dynamicRef",
    ];
    schema.contains_key("properties") && !ADMIT.iter().any(|keyword| schema.contains_key(*keyword))
}

fn regex(pattern: &str, path: &str) -> Result<Regex, SchemaError> {
    if pattern.len() > MAX_PATTERN {
        return Err(wrong(path, "a pattern is too long; write a shorter one"));
    }
    RegexBuilder::new(pattern).size_limit(MAX_COMPILED_PATTERN).build().map_err(|error| {
        let text = format!(
            "the pattern `{pattern}` is no regular expression: {error}; write one without look-around, \
             back-references and `\\p{{..}}`"
        );
        wrong(path, &text)
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

pub(super) fn wrong(path: &str, reason: &str) -> SchemaError {
    SchemaError { path: nearest::shortened(path, 200), reason: nearest::shortened(reason, 500) }
}
