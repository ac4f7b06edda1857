//! What a compiled schema asks for at one place, for those who read it without checking a value.

use serde_json::Value;

use super::check::{Path, Report};
use super::rules::{Extra, Node, NodeId, Rules};
use super::{ArgumentProblem, Validator, nearest};

/// One place in a compiled schema.
#[derive(Clone, Copy)]
pub(crate) struct Shape<'v> {
    validator: &'v Validator,
    id: NodeId,
}

impl Validator {
    /// The schema as a whole.
    pub(crate) fn shape(&self) -> Shape<'_> {
        Shape { validator: self, id: self.root }
    }

    /// The fields that no parameter has, in objects that declare their fields but are silent about others. Such a
    /// field is valid by JSON Schema, and still not what the model meant.
    pub(crate) fn undeclared(&self, value: &Value) -> Vec<ArgumentProblem> {
        let mut problems = Vec::new();
        if self.silent {
            let mut report = Report::new(Some(&mut problems));
            self.shape().each_field(value, &Path::Root, &mut |object, name, _, at| {
                let is_silent = object.rules().is_some_and(|rules| rules.additional == Extra::Silent);
                if is_silent && object.field(name).is_none() {
                    report.add(at, || {
                        let names: Vec<_> = object.names().collect();
                        (
                            nearest::known_names(name, &names),
                            format!("unknown argument `{}`", nearest::quoted(name, 60)),
                        )
                    });
                }
            });
        }
        problems
    }
}

impl<'v> Shape<'v> {
    pub(super) fn at(self, id: NodeId) -> Self {
        Self { id, ..self }
    }

    /// What it asks for, behind references that add nothing of their own.
    fn rules(self) -> Option<&'v Rules> {
        let mut id = self.id;
        loop {
            match self.validator.nodes.get(id)? {
                Node::Alias(target) => id = *target,
                Node::Rules(rules) => match rules.reference {
                    Some(target) if rules.only_refers() => id = target,
                    _ => return Some(rules),
                },
                Node::Any | Node::Never => return None,
            }
        }
    }

    /// Whether a value fits here. Takes its steps from `steps`; without any, nothing fits.
    pub(crate) fn accepts(self, value: &Value, steps: &mut u32) -> bool {
        let mut report = Report::silent(*steps);
        let fits = self.validator.check(self.id, value, &Path::Root, &mut report);
        *steps = report.steps();
        fits
    }

    /// Whether the schema names the type of `sample`.
    pub(crate) fn names_type_of(self, sample: &Value) -> bool {
        self.rules().and_then(|rules| rules.types).is_some_and(|types| types.accepts(sample))
    }

    /// Whether the schema names types at all, and not that of `sample`.
    pub(crate) fn bars_type_of(self, sample: &Value) -> bool {
        self.rules().and_then(|rules| rules.types).is_some_and(|types| !types.accepts(sample))
    }

    /// The values of its `enum`.
    pub(crate) fn allowed(self) -> &'v [Value] {
        self.rules().and_then(|rules| rules.one_of_values.as_deref()).unwrap_or_default()
    }

    /// The alternatives of its `anyOf` or `oneOf`.
    pub(crate) fn alternatives(self) -> impl Iterator<Item = Self> {
        let alternatives = self.rules().and_then(|rules| rules.any_of.first());
        alternatives.into_iter().flatten().map(move |id| self.at(*id))
    }

    /// The declared fields.
    pub(crate) fn names(self) -> impl Iterator<Item = &'v str> {
        self.rules()
            .into_iter()
            .flat_map(|rules| rules.properties.iter().map(|property| property.name.as_str()))
    }

    /// A declared field.
    pub(crate) fn property(self, name: &str) -> Option<Self> {
        self.rules()?.property(name).map(|id| self.at(id))
    }

    /// What a field holds, declared by its name or not.
    pub(crate) fn field(self, name: &str) -> Option<Self> {
        self.rules()?.field(name).map(|id| self.at(id))
    }

    /// Whether a field must be there.
    pub(crate) fn requires(self, name: &str) -> bool {
        self.rules().is_some_and(|rules| rules.required.iter().any(|required| required == name))
    }

    /// Whether fields that are not declared are refused: by the schema, or because it says nothing about them.
    pub(crate) fn refuses_extra(self) -> bool {
        self.rules().is_some_and(|rules| matches!(rules.additional, Extra::Closed | Extra::Silent))
    }

    /// An item of a list.
    pub(crate) fn item(self, index: usize) -> Option<Self> {
        self.rules()?.item(index).map(|id| self.at(id))
    }

    /// Shows `see` each field of each object in a value, as far as the schema says what its values are: what asks for
    /// the object, the field's name and value, and where it is.
    pub(crate) fn each_field(
        self,
        value: &Value,
        path: &Path<'_>,
        see: &mut impl FnMut(Self, &str, &Value, &Path<'_>),
    ) {
        match value {
            Value::Object(object) => {
                for (name, value) in object {
                    let at = Path::Key(path, name);
                    see(self, name, value, &at);
                    if let Some(field) = self.field(name) {
                        field.each_field(value, &at, see);
                    }
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    if let Some(shape) = self.item(index) {
                        shape.each_field(item, &Path::Index(path, index), see);
                    }
                }
            }
            _ => {}
        }
    }
}
