//! The parts of a schema, found by following its references as the `jsonschema` crate does.
//!
//! Guarantee: where it is not known which of several parts a reference means, all of them are taken. A schema that
//! leads back to itself without a step into the value, or would check one value very often, is refused.
//!
//! Not here: how many checks a value takes.

use std::collections::BTreeSet;

use foldhash::{HashMap, HashMapExt};
use jsonschema::{Draft, Registry, uri};
use serde_json::{Map, Value};

use super::super::check::MAX_LEVELS;
use super::super::compile::{CIRCLE, MAX_CHAIN, MAX_NODES, too_large, wrong};
use super::super::full::SchemaResources;
use super::super::number::size;
use super::super::{SchemaError, nearest};
use super::keywords::{Edge, reference, subschemas};
use super::{Checks, Cost, Part};

/// The most parts that may check one and the same value, each way that leads to one counted: a generous schema has
/// some hundreds, and each doubling of references doubles them.
const MAX_IN_PLACE: u64 = 10_000;
/// As many for all `unevaluatedProperties` and `unevaluatedItems` together, which hold such ways as trees.
const MAX_UNEVALUATED: u64 = 20 * MAX_IN_PLACE;
/// The most parts within each other, up to `NESTED` references followed, which the crate compiles one within the other:
/// on a stack of 1 MiB, unoptimised.
const MAX_NESTED: usize = 64;
/// After so many references within each other the crate starts again with a flat stack.
const NESTED: usize = 8;
/// The most parts that are compiled, each as often as there are ways to it from one schema with an `$id` to the next:
/// what a dynamic reference means depends on the way, so the crate compiles a part anew for each.
const MAX_COMPILED: usize = 10 * MAX_NODES;
/// What a way counts at least, since the crate looks for each among all others.
const WAY: usize = 1_000;
const DEEP: &str = "too many parts check one value within each other; flatten it";
/// The name under which the parts with `$recursiveAnchor` are kept; no `$dynamicAnchor` has it.
const RECURSIVE: &str = "#";

impl Cost {
    /// Follows every reference as the `jsonschema` crate does.
    pub(in super::super) fn of(schema: &Value, resources: &SchemaResources) -> Result<Self, SchemaError> {
        let fault = |error: &dyn std::fmt::Display| wrong("", &error.to_string());
        let draft = Draft::default().detect(schema);
        let resource = draft.create_resource_ref(schema);
        let base = resource.id().unwrap_or("json-schema:///");
        let base = uri::from_str(base).map_err(|error| fault(&error))?;
        let registry = Registry::new().retriever(resources.clone()).draft(draft);
        let registry = registry.add(base.as_str(), resource).and_then(|registry| registry.prepare());
        let registry = registry.map_err(|error| fault(&error))?;
        if !registry.contains_resource(base.as_str().trim_end_matches('#')) {
            return Err(wrong("", "the schema's id must be a URI without a fragment"));
        }

        let mut found = Found::default();
        let mut open = vec![(found.part(schema, None), schema, registry.resolver(base), draft)];
        while let Some((id, contents, resolver, draft)) = open.pop() {
            let Value::Object(object) = contents else { continue };
            found.enter(id, resolver.base_uri().as_str());
            if found.parts.len() > MAX_NODES {
                return Err(too_large(&found.place(id)));
            }
            let at = |error: &dyn std::fmt::Display, found: &Found<'_>| {
                wrong(&found.place(id), &nearest::shortened(&error.to_string(), 300))
            };
            for (keyword, value) in object {
                for (edge, name, schema) in subschemas(keyword, value) {
                    let known = found.parts.len();
                    let part = found.part(schema, Some((id, keyword, name)));
                    found.add(id, &edge, part);
                    if part == known {
                        let draft = draft.detect(schema);
                        let resolver = resolver.in_subresource(draft.create_resource_ref(schema));
                        open.push((part, schema, resolver.map_err(|error| at(&error, &found))?, draft));
                    }
                }
                let Some((reference, is_recursive)) = reference(keyword, value) else { continue };
                let target = match is_recursive {
                    true => resolver.lookup_recursive_ref(),
                    false => resolver.lookup(reference),
                };
                let target = target.map_err(|error| at(&error, &found))?;
                let whole = target.resolver().lookup("#").map_err(|error| at(&error, &found))?;
                let mut ids = Vec::new();
                // A dynamic anchor of the resource may stand anywhere in it.
                for resolved in [target, whole] {
                    let (contents, resolver, draft) = resolved.into_inner();
                    let known = found.parts.len();
                    let part = found.part(contents, Some((id, keyword, None)));
                    if part == known {
                        open.push((part, contents, resolver, draft));
                    }
                    ids.push(part);
                }
                let fragment = reference.rsplit_once('#').map_or("", |(_, fragment)| fragment);
                let anchor = if is_recursive { RECURSIVE } else { fragment };
                found.referring.extend(ids.first().map(|target| (id, *target, anchor)));
            }
            found.weigh(id, object);
        }
        found.finish()
    }
}

/// The parts while references are followed.
#[derive(Default)]
struct Found<'s> {
    parts: Vec<Part>,
    /// By address: nothing is moved meanwhile.
    ids: HashMap<usize, usize>,
    /// Which part led to each first, by which keyword, and its name there.
    from: Vec<Option<(usize, &'s str, Option<String>)>>,
    /// The parts that a dynamic reference may mean, by anchor.
    anchored: HashMap<&'s str, Vec<usize>>,
    /// Which parts refer to which part, and by which anchor.
    referring: Vec<(usize, usize, &'s str)>,
    /// The schemas with an `$id` of their own, by their URIs.
    resources: HashMap<String, usize>,
    /// Which of them each part is in.
    resource: HashMap<usize, usize>,
    patterns: usize,
}

/// The ways from one schema with an `$id` to the next.
struct Ways<'s> {
    /// What the parts of each refer to, and by which anchor.
    references: HashMap<usize, BTreeSet<(usize, &'s str)>>,
    left: usize,
}

impl Ways<'_> {
    /// Goes on from the last of the parts that a way has led to, each with the schema it is in.
    fn are_few(&mut self, found: &Found<'_>, way: &mut Vec<(usize, usize)>) -> bool {
        let Some((_, from)) = way.last().copied() else { return true };
        let size = found.resource.values().filter(|resource| **resource == from).count();
        let Some(left) = self.left.checked_sub(size.max(WAY)).filter(|_| way.len() <= MAX_CHAIN) else {
            return false;
        };
        self.left = left;
        for (target, anchor) in self.references.get(&from).cloned().unwrap_or_default() {
            let target = found.meant(target, anchor, way);
            let Some(to) = found.resource.get(&target).copied() else { continue };
            if to == from || way.iter().any(|(passed, _)| *passed == target) {
                continue;
            }
            way.push((target, to));
            if !self.are_few(found, way) {
                return false;
            }
            way.pop();
        }
        true
    }
}

/// What is known of the checks of one value by a part and those it leads to.
#[derive(Clone, Copy)]
struct InPlace {
    /// Each way counted.
    parts: u64,
    height: usize,
}

impl<'s> Found<'s> {
    /// The number of a part, which is new if it was not found before.
    fn part(&mut self, schema: &'s Value, from: Option<(usize, &'s str, Option<String>)>) -> usize {
        let next = self.parts.len();
        let id = *self.ids.entry(std::ptr::from_ref(schema) as usize).or_insert(next);
        if id == next {
            self.parts.push(Part { weight: 1, ..Part::default() });
            self.from.push(from);
        }
        id
    }

    /// Notes which schema with an `$id` a part is in.
    fn enter(&mut self, id: usize, uri: &str) {
        let next = self.resources.len();
        let resource = match self.resources.get(uri) {
            Some(resource) => *resource,
            None => *self.resources.entry(uri.to_owned()).or_insert(next),
        };
        self.resource.insert(id, resource);
    }

    /// Where a part is, as a JSON Pointer; behind a reference, the reference's.
    fn place(&self, id: usize) -> String {
        let mut keys = Vec::new();
        let mut at = id;
        while let Some(Some((from, keyword, name))) = self.from.get(at) {
            keys.extend(name.as_deref());
            keys.push(*keyword);
            at = *from;
        }
        keys.iter().rev().flat_map(|key| ["/", *key]).collect()
    }

    /// What a reference means on a way: with a dynamic anchor, the first of that name.
    fn meant(&self, target: usize, anchor: &str, way: &[(usize, usize)]) -> usize {
        let anchored = self.anchored.get(anchor).filter(|anchored| anchored.contains(&target));
        let first = |(_, resource): &(usize, usize)| {
            let mut anchored = anchored?.iter().copied();
            anchored.find(|part| self.resource.get(part) == Some(resource))
        };
        way.iter().find_map(first).unwrap_or(target)
    }

    fn add(&mut self, id: usize, edge: &Edge<'_>, below: usize) {
        let Some(part) = self.parts.get_mut(id) else { return };
        match edge {
            Edge::InPlace => part.in_place.push(below),
            Edge::Property(name) => drop(part.properties.insert((*name).to_owned(), below)),
            Edge::AnyProperty => part.any_property.push(below),
            Edge::Names => part.names.push(below),
            Edge::Prefix => part.prefix.push(below),
            Edge::Items => part.items.push(below),
            Edge::Nowhere => {}
        }
    }

    /// Reads what a part asks for itself.
    fn weigh(&mut self, id: usize, object: &'s Map<String, Value>) {
        self.patterns += usize::from(object.contains_key("pattern"));
        for (keyword, value) in object {
            match (keyword.as_str(), value) {
                ("$dynamicAnchor", Value::String(name)) => self.anchored.entry(name).or_default().push(id),
                ("$recursiveAnchor", Value::Bool(true)) => {
                    self.anchored.entry(RECURSIVE).or_default().push(id);
                }
                ("patternProperties", Value::Object(patterns)) => self.patterns += patterns.len(),
                _ => {}
            }
            let Some(part) = self.parts.get_mut(id) else { continue };
            part.weight += match subschemas(keyword, value).len() {
                0 => size(value) as u64,
                schemas => schemas as u64,
            };
            part.unevaluated |= matches!(keyword.as_str(), "unevaluatedProperties" | "unevaluatedItems");
            part.conditional |= matches!(keyword.as_str(), "if" | "dependentSchemas");
        }
    }

    /// Adds what the references with a dynamic anchor may mean, then looks at the whole.
    fn finish(mut self) -> Result<Cost, SchemaError> {
        let mut ways = Ways { references: HashMap::new(), left: MAX_COMPILED };
        for (id, target, anchor) in std::mem::take(&mut self.referring) {
            let mut choice = self.anchored.get(anchor).cloned().unwrap_or_default();
            choice.push(target);
            choice.sort_unstable();
            choice.dedup();
            if let Some(from) = self.resource.get(&id) {
                ways.references.entry(*from).or_default().insert((target, anchor));
            }
            if let Some(part) = self.parts.get_mut(id) {
                part.references.push(choice);
            }
        }
        if !ways.are_few(&self, &mut vec![(0, 0)]) {
            return Err(wrong(
                "",
                "its parts with an `$id` refer to each other in too many ways; leave out the `$id`s",
            ));
        }
        let mut known = vec![None; self.parts.len()];
        let mut unevaluated = 0_u64;
        for id in 0..self.parts.len() {
            let in_place = self.in_place(id, 0, &mut known)?;
            if in_place.parts > MAX_IN_PLACE {
                let text = format!(
                    "one value would be checked by more than {MAX_IN_PLACE} of its parts; refer less often to what \
                     refers on"
                );
                return Err(wrong(&self.place(id), &text));
            }
            if self.parts.get(id).is_some_and(|part| part.unevaluated) {
                unevaluated += in_place.parts;
            }
            if unevaluated > MAX_UNEVALUATED {
                let text = "too many parts are within `unevaluatedProperties` or `unevaluatedItems`; close fewer objects";
                return Err(wrong(&self.place(id), text));
            }
        }
        self.height(0, 1, NESTED, &mut HashMap::new())?;
        let of_each = self.of_each(0, 0, &mut vec![None; self.parts.len()]);
        Ok(Cost { parts: self.parts, of_each, patterns: self.patterns })
    }

    /// `known` holds `None` for what was not looked at, `Some(None)` for what is being looked at.
    fn in_place(
        &self,
        id: usize,
        depth: usize,
        known: &mut [Option<Option<InPlace>>],
    ) -> Result<InPlace, SchemaError> {
        match known.get(id) {
            Some(Some(Some(in_place))) => return Ok(*in_place),
            Some(Some(None)) => return Err(wrong(&self.place(id), CIRCLE)),
            _ => {}
        }
        let mut sum = InPlace { parts: 1, height: 0 };
        let (Some(part), Some(slot)) = (self.parts.get(id), known.get_mut(id)) else { return Ok(sum) };
        *slot = Some(None);
        for below in part.in_place.iter().chain(part.references.iter().flatten()) {
            if depth >= MAX_CHAIN {
                return Err(wrong(&self.place(id), DEEP));
            }
            let below = self.in_place(*below, depth + 1, known)?;
            sum.parts = sum.parts.saturating_add(below.parts);
            sum.height = sum.height.max(below.height + 1);
        }
        if sum.height > MAX_CHAIN {
            return Err(wrong(&self.place(id), DEEP));
        }
        if let Some(slot) = known.get_mut(id) {
            *slot = Some(Some(sum));
        }
        Ok(sum)
    }

    /// How many parts are within each other, from the one at `level` on, up to so many references followed.
    fn height(
        &self,
        id: usize,
        level: usize,
        references: usize,
        known: &mut HashMap<(usize, usize), usize>,
    ) -> Result<usize, SchemaError> {
        let known_height = known.get(&(id, references)).copied();
        if level + known_height.unwrap_or(1) > MAX_NESTED {
            return Err(wrong(&self.place(id), "it is too deep, references followed; flatten it"));
        }
        if let Some(height) = known_height {
            return Ok(height);
        }
        let Some(part) = self.parts.get(id) else { return Ok(0) };
        let mut height = 0;
        for below in part.in_place.iter().chain(part.below()) {
            height = height.max(self.height(*below, level + 1, references, known)?);
        }
        if let Some(fewer) = references.checked_sub(1) {
            for target in part.references.iter().flatten() {
                height = height.max(self.height(*target, level + 1, fewer, known)?);
            }
        }
        known.insert((id, references), height + 1);
        Ok(height + 1)
    }

    /// The checks of any one value within a value, if they do not depend on its depth.
    fn of_each(&self, id: usize, level: u32, known: &mut [Option<Option<Checks>>]) -> Option<Checks> {
        if let Some(Some(checks)) = known.get(id) {
            return *checks;
        }
        let part = self.parts.get(id).filter(|_| level <= MAX_LEVELS)?;
        // Found again before it is done, it contains itself.
        *known.get_mut(id)? = Some(None);
        let mut sum = Checks::of_part(part);
        for below in &part.in_place {
            sum.and_in_place(part, self.of_each(*below, level + 1, known)?);
        }
        for choice in &part.references {
            let mut checks = Checks::NONE;
            for below in choice {
                checks = checks.or(self.of_each(*below, level + 1, known)?);
            }
            sum.and_in_place(part, checks);
        }
        for below in part.below() {
            sum.and_below(self.of_each(*below, level + 1, known)?);
        }
        let sum = sum.with_unevaluated(part);
        *known.get_mut(id)? = Some(Some(sum));
        Some(sum)
    }
}
