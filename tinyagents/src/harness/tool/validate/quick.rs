//! Seeing at a glance that a value fits.
//!
//! Guarantee: what fits at a glance passes the check. Of what does not nothing is known, and the check decides.
//!
//! Not here: what few parameters ask for (references, alternatives, patterns, lengths), which is left to the check
//! place by place, and what to say of a value that does not fit.

use std::ops::RangeInclusive;

use serde_json::{Map, Number, Value};

use super::Validator;
use super::check::{Path, Report};
use super::number::Width;
use super::rules::{AllBounds, Bounds, Declared, Extra, MANY, Node, NodeId, Rules, Types};

/// What one place asks for.
#[derive(Debug)]
pub(super) enum Quick {
    Types(Types),
    Texts(Vec<String>),
    Integer(RangeInclusive<i64>),
    List(Box<Quick>),
    Object(Object),
    /// Something else.
    Rest(NodeId),
}

#[derive(Debug)]
pub(super) struct Object {
    properties: Vec<Property>,
    required: usize,
    /// Whether other properties may be there.
    is_open: bool,
}

#[derive(Debug)]
struct Property {
    name: String,
    is_required: bool,
    quick: Quick,
}

impl Quick {
    pub(super) fn of(nodes: &[Node], id: NodeId) -> Self {
        let known = match nodes.get(id) {
            Some(Node::Rules(rules)) => Self::of_rules(nodes, rules),
            _ => None,
        };
        known.unwrap_or(Self::Rest(id))
    }

    fn of_rules(nodes: &[Node], rules: &Rules) -> Option<Self> {
        // Each rule is named, so that a new one is not forgotten here.
        let Rules {
            types: Some(types),
            one_of_values,
            reference: None,
            any_of,
            not: None,
            patterns,
            properties,
            required: _,
            by_name: _,
            required_declared,
            required_others,
            additional,
            prefix,
            items,
            bounds: AllBounds { number, open_number, length, items: item_count, properties: entry_count },
            width,
            pattern: None,
            format: None,
        } = rules
        else {
            return None;
        };
        let counts = [length, item_count, entry_count];
        let is_common = any_of.is_empty()
            && patterns.is_empty()
            && required_others.is_empty()
            && prefix.is_empty()
            && open_number.is_empty()
            && counts.into_iter().all(Bounds::is_empty);
        if !is_common {
            return None;
        }
        let is_ranged = width.is_some() || !number.is_empty();
        match (types.only()?, one_of_values, items) {
            ("integer", None, _) if is_ranged => range(number, *width).map(Self::Integer),
            _ if is_ranged => None,
            // A long list takes steps, which are counted by the check.
            ("string", Some(values), _) if values.len() <= MANY => {
                let texts = values.iter().map(|value| value.as_str().map(str::to_owned));
                texts.collect::<Option<_>>().map(Self::Texts)
            }
            (_, Some(_), _) => None,
            ("array", None, Some(id)) => Some(Self::List(Box::new(Self::of(nodes, *id)))),
            ("object", ..) if properties.len() > MANY || matches!(additional, Extra::Schema(_)) => None,
            ("object", ..) => {
                let property = |property: &Declared| Property {
                    name: property.name.clone(),
                    is_required: property.required,
                    quick: Self::of(nodes, property.node),
                };
                Some(Self::Object(Object {
                    properties: properties.iter().map(property).collect(),
                    required: *required_declared,
                    is_open: *additional != Extra::Closed,
                }))
            }
            _ => Some(Self::Types(*types)),
        }
    }
}

/// The integers of 64 bits within the bounds, if they are such integers.
fn range(bounds: &Bounds<Number>, width: Option<Width>) -> Option<RangeInclusive<i64>> {
    let least = if width == Some(Width::Unsigned) { 0 } else { i64::MIN };
    let end = |bound: &Option<Number>, other: i64| bound.as_ref().map_or(Some(other), Number::as_i64);
    Some(end(&bounds.min, least)?.max(least)..=end(&bounds.max, i64::MAX)?)
}

impl Validator {
    /// Whether a value fits at a glance.
    pub(super) fn fits(&self, quick: &Quick, value: &Value, report: &mut Report<'_>) -> bool {
        match (quick, value) {
            (Quick::Types(types), _) => types.accepts(value),
            (Quick::Texts(texts), Value::String(text)) => texts.iter().any(|known| same(known, text)),
            (Quick::Integer(range), Value::Number(number)) => {
                number.as_i64().is_some_and(|number| range.contains(&number))
            }
            (Quick::List(item), Value::Array(items)) => match &**item {
                Quick::Types(types) => items.iter().all(|item| types.accepts(item)),
                quick => items.iter().all(|item| self.fits(quick, item, report)),
            },
            (Quick::Object(object), Value::Object(given)) => self.fits_object(object, given, report),
            (Quick::Rest(id), _) => self.check(*id, value, &Path::Root, report),
            _ => false,
        }
    }

    fn fits_object(&self, object: &Object, given: &Map<String, Value>, report: &mut Report<'_>) -> bool {
        let (mut next, mut required) = (0, 0);
        for (name, value) in given {
            // Models write the properties in the order of the schema.
            let is_next = object.properties.get(next).is_some_and(|property| same(&property.name, name));
            let place = if is_next {
                Some(next)
            } else {
                object.properties.iter().position(|property| same(&property.name, name))
            };
            match place.and_then(|place| Some((place, object.properties.get(place)?))) {
                Some((place, property)) => {
                    // Most properties are a type, which is judged in less time than it takes to call for it.
                    let fits = match &property.quick {
                        Quick::Types(types) => types.accepts(value),
                        quick => self.fits(quick, value, report),
                    };
                    if !fits {
                        return false;
                    }
                    required += usize::from(property.is_required);
                    next = place + 1;
                }
                None if object.is_open => {}
                None => return false,
            }
        }
        required == object.required
    }
}

/// Whether two names are the same. A call to compare memory costs more than most names are long, so these are compared
/// as two words that may overlap.
#[inline]
fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    a.len() == b.len()
        && match a.len() {
            4..8 => a.first_chunk::<4>() == b.first_chunk() && a.last_chunk::<4>() == b.last_chunk(),
            8..=16 => a.first_chunk::<8>() == b.first_chunk() && a.last_chunk::<8>() == b.last_chunk(),
            _ => a == b,
        }
}
