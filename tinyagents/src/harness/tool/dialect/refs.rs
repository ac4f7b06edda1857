//! References: each is resolved, and written out where a dialect wants it.

use serde_json::{Map, Value, json};

use super::bound::cut_off;
use super::merge::merge;
use super::words::{MAX_DEPTH, MAX_NODES};
use super::{LossyAction, Pass, Recursion, Refs};
use crate::harness::tool::validate::canonical::{child, escaped};
use crate::harness::tool::validate::keywords::copy_schemas;

/// The document with every reference resolved: either written out, or to an entry of `$defs` at the root. What no
/// reference needs is gone from `$defs`.
pub(super) fn resolve(document: &Value, pass: &mut Pass<'_>) -> Value {
    pass.visited = 0;
    let mut resolver = Resolver { document, pass, named: Vec::new(), within: Vec::new() };
    let mut root = resolver.copy(document, "", 0, false);
    let mut definitions = Map::new();
    let mut next = 0;
    while let Some((pointer, name)) = resolver.named.get(next).cloned() {
        let target = document.pointer(&pointer).unwrap_or(&Value::Bool(true));
        resolver.within = vec![pointer];
        let body = resolver.copy(target, &child("", "$defs", &name), 0, false);
        definitions.insert(name, body);
        next += 1;
    }
    if let (Value::Object(root), false) = (&mut root, definitions.is_empty()) {
        root.insert("$defs".into(), Value::Object(definitions));
    }
    root
}

struct Resolver<'d, 'p, 'a> {
    document: &'d Value,
    pass: &'p mut Pass<'a>,
    /// The targets that stay, with their names in `$defs`.
    named: Vec<(String, String)>,
    /// The targets that are being written out.
    within: Vec<String>,
}

impl Resolver<'_, '_, '_> {
    fn copy(&mut self, schema: &Value, path: &str, depth: usize, in_all_of: bool) -> Value {
        let Value::Object(object) = schema else { return schema.clone() };
        self.pass.visited += 1;
        if depth > MAX_DEPTH || self.pass.visited > MAX_NODES {
            if self.pass.dialect.strict {
                self.pass.block(path, "$ref");
            }
            return cut_off(path, self.pass);
        }
        let mut copied = Map::new();
        for (keyword, value) in object {
            if matches!(keyword.as_str(), "$defs" | "definitions" | "$ref") {
                continue;
            }
            let in_all_of = keyword == "allOf";
            let copy = |schema: &Value, path: &str| self.copy(schema, path, depth + 1, in_all_of);
            copied.insert(keyword.clone(), copy_schemas(keyword, value, path, copy));
        }
        match object.get("$ref").and_then(Value::as_str) {
            None => Value::Object(copied),
            Some(target) => self.reference(target, copied, path, depth, in_all_of),
        }
    }

    /// A reference with what stands beside it.
    fn reference(
        &mut self,
        target: &str,
        mut beside: Map<String, Value>,
        path: &str,
        depth: usize,
        in_all_of: bool,
    ) -> Value {
        let pointer = target.strip_prefix('#').map(percent_decoded).unwrap_or_else(|| "?".into());
        let Some(body) = self.document.pointer(&pointer).filter(|body| body.is_object() || body.is_boolean())
        else {
            self.pass.note(path, "$ref", LossyAction::Widened);
            return Value::Object(beside);
        };
        let says_more = beside.keys().any(|keyword| keyword != "title");
        let dialect = self.pass.dialect;
        let inline = match dialect.refs {
            Refs::Keep => in_all_of && dialect.merge_all_of,
            Refs::InlineSiblings => says_more || (in_all_of && dialect.merge_all_of),
            Refs::InlineAll(_) => true,
        };
        let times = self.within.iter().filter(|within| **within == pointer).count();
        let most = match dialect.refs {
            Refs::InlineAll(Recursion::Depth(most)) => most,
            _ => 1,
        };
        if inline && times < most {
            self.within.push(pointer);
            let body = self.copy(body, path, depth + 1, false);
            self.within.pop();
            match body {
                Value::Object(body) => merge(&mut beside, body, path, self.pass),
                Value::Bool(true) => {}
                other => return other,
            }
            return Value::Object(beside);
        }
        if let Refs::InlineAll(recursion) = dialect.refs {
            if recursion == Recursion::NotStrict {
                self.pass.block(path, "$ref");
            }
            return self.open(body, beside, path);
        }
        let reference = format!("#/$defs/{}", escaped(&self.name(&pointer)));
        if dialect.refs == Refs::InlineSiblings && says_more {
            // A type that contains itself, with a description of its own: an `anyOf` of one keeps both.
            return match beside.contains_key("anyOf") {
                true => {
                    self.pass.note(path, "$ref", LossyAction::Widened);
                    Value::Object(beside)
                }
                false => {
                    beside.insert("anyOf".into(), json!([{ "$ref": reference }]));
                    Value::Object(beside)
                }
            };
        }
        beside.insert("$ref".into(), reference.into());
        Value::Object(beside)
    }

    /// What stands for a type that was written out often enough.
    fn open(&mut self, body: &Value, mut beside: Map<String, Value>, path: &str) -> Value {
        let name = body.get("type").and_then(Value::as_str);
        let action = if name.is_some() { LossyAction::Widened } else { LossyAction::Narrowed };
        self.pass.note(path, "$ref", action);
        let name = name.unwrap_or("object");
        beside.insert("type".into(), name.into());
        if let (Some(text), false) = (body.get("description"), beside.contains_key("description")) {
            beside.insert("description".into(), text.clone());
        }
        Value::Object(beside)
    }

    /// The name in `$defs` of a target.
    fn name(&mut self, pointer: &str) -> String {
        if let Some((_, name)) = self.named.iter().find(|(known, _)| known == pointer) {
            return name.clone();
        }
        let last = pointer.rsplit('/').next().unwrap_or_default().replace("~1", "/").replace("~0", "~");
        let plain = |c: char| if c.is_ascii_alphanumeric() || "_-.".contains(c) { c } else { '_' };
        let base: String = if last.is_empty() { "Root".into() } else { last.chars().map(plain).collect() };
        let mut name = base.clone();
        let mut number = 2;
        while self.named.iter().any(|(_, taken)| *taken == name) {
            name = format!("{base}_{number}");
            number += 1;
        }
        self.named.push((pointer.to_string(), name.clone()));
        name
    }
}

/// The text of a URI fragment.
fn percent_decoded(fragment: &str) -> String {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let [first, after @ ..] = rest {
        let code = match (first, after) {
            (b'%', [high, low, ..]) => {
                let digits = [*high, *low];
                std::str::from_utf8(&digits).ok().and_then(|digits| u8::from_str_radix(digits, 16).ok())
            }
            _ => None,
        };
        bytes.push(code.unwrap_or(*first));
        rest = match code {
            Some(_) => after.get(2..).unwrap_or_default(),
            None => after,
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
