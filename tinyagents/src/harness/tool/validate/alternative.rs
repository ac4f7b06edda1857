//! What is wrong with a value that fits none of several alternatives.
//!
//! Guarantee: where its type, or a field that tells the alternatives apart, says which one is meant, that one's
//! mistakes are reported; else what each asks for. Runs only for values that are refused.

use serde_json::{Map, Value};

use super::check::{Path, Report, shown};
use super::rules::NodeId;
use super::{Shape, Validator, nearest};

impl Validator {
    /// Reports a value that fits none of the alternatives.
    #[cold]
    pub(super) fn no_alternative(
        &self,
        ids: &[NodeId],
        value: &Value,
        path: &Path<'_>,
        report: &mut Report<'_>,
    ) -> bool {
        let shapes = || ids.iter().map(|id| (*id, self.shape().at(*id)));
        let possible: Vec<_> = shapes().filter(|(_, shape)| !shape.bars_type_of(value)).collect();
        if let [(only, _)] = possible[..] {
            return self.check(only, value, path, report);
        }
        if let Value::Object(object) = value {
            if let Some(tag) = tag(&possible) {
                let Some(sent) = object.get(tag) else {
                    let expected = || nearest::one_of(&tags(&possible, tag), &Value::Null);
                    return report.add(&Path::Key(path, tag), || (expected(), "nothing".into()));
                };
                let means =
                    |shape: &Shape<'_>| shape.property(tag).is_some_and(|at| at.allowed() == [sent.clone()]);
                return match possible.iter().find(|(_, shape)| means(shape)) {
                    Some((meant, _)) => self.check(*meant, value, path, report),
                    None => report.add(&Path::Key(path, tag), || {
                        (nearest::one_of(&tags(&possible, tag), sent), shown(sent))
                    }),
                };
            }
            let asked = |shape: &Shape<'_>| object.keys().any(|key| shape.requires(key));
            let mut meant = possible.iter().filter(|(_, shape)| asked(shape));
            if let (Some((meant, _)), None) = (meant.next(), meant.next()) {
                return self.check(*meant, value, path, report);
            }
        }
        report.add(path, || (self.alternatives(ids), with_fields(value)))
    }
}

/// The field that tells the alternatives apart: each declares it with one value.
fn tag<'v>(possible: &[(NodeId, Shape<'v>)]) -> Option<&'v str> {
    let (_, first) = possible.first()?;
    let tells =
        |name: &str, shape: &Shape<'_>| shape.property(name).is_some_and(|at| at.allowed().len() == 1);
    first.names().find(|name| possible.iter().all(|(_, shape)| tells(name, shape)))
}

fn tags(possible: &[(NodeId, Shape<'_>)], tag: &str) -> Vec<Value> {
    possible.iter().filter_map(|(_, shape)| shape.property(tag)?.allowed().first().cloned()).collect()
}

/// A value as an error shows it, an object with the names of its fields: they are what alternatives differ in.
fn with_fields(value: &Value) -> String {
    match value.as_object().filter(|object: &&Map<_, _>| !object.is_empty()) {
        Some(object) => format!("object with {}", nearest::names(object.keys().map(String::as_str))),
        None => shown(value),
    }
}
