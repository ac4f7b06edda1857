//! The schema of a tool's arguments and of its output, from the entries of its parameters.
//!
//! Guarantee: names that clash, values that a parameter's own schema refuses, and fields named like credentials are
//! found here, once, all together.
//!
//! Not here: the words of one parameter (`property`).

use std::cell::LazyCell;

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value};

use super::secret::credential_field;
use super::{ArgDef, Property};
use crate::harness::tool::validate::{Width, canonical};
use crate::harness::tool::{SchemaResources, Validation, Validator};

/// A flattened parameter's name and its fields.
pub(super) struct Flat {
    pub(super) parameter: &'static str,
    pub(super) fields: Vec<String>,
}

/// The schema of a tool's arguments, and what is wrong with it.
pub(super) struct Input {
    pub(super) schema: Value,
    /// What the schema has no bounds for.
    pub(super) widths: Vec<(String, Width)>,
    pub(super) flat: Vec<Flat>,
    /// Why the tool cannot be registered.
    pub(super) problems: Vec<String>,
}

impl Input {
    pub(super) fn of(args: &[&dyn ArgDef], injected: &[(&str, &str)]) -> Self {
        let mut generator = generator();
        let mut properties = Map::new();
        let mut required = Vec::new();
        let mut flat = Vec::new();
        let mut problems = Vec::new();
        let mut owners: Vec<(String, &dyn ArgDef)> = Vec::new();
        for arg in args {
            let property = arg.property(&mut generator);
            let of_arg = |text: &String| format!("parameter `{}`: {text}", arg.name());
            problems.extend(property.problems.iter().map(of_arg));
            if arg.is_flat() {
                let fields = match fields(property) {
                    Ok(fields) => fields,
                    Err(text) => {
                        problems.push(of_arg(&text));
                        continue;
                    }
                };
                for (name, _, is_required) in &fields {
                    let taken = properties.contains_key(name)
                        || args.iter().any(|other| !other.is_flat() && other.name() == name)
                        || args.iter().any(|other| other.aliases().contains(&name.as_str()))
                        || injected.iter().any(|(hidden, _)| hidden == name);
                    if taken {
                        let text = format!(
                            "its field `{name}` has the name of another parameter; rename one of the two"
                        );
                        problems.push(of_arg(&text));
                    }
                    if *is_required {
                        required.push(Value::from(name.as_str()));
                    }
                }
                let names = fields.iter().map(|(name, ..)| name.clone()).collect();
                flat.push(Flat { parameter: arg.name(), fields: names });
                for (name, schema, _) in fields {
                    owners.push((name.clone(), *arg));
                    properties.insert(name, schema);
                }
            } else {
                if property.required {
                    required.push(Value::from(arg.name()));
                }
                owners.push((arg.name().into(), *arg));
                properties.insert(arg.name().into(), property.schema.to_value());
            }
        }
        let mut root = Map::new();
        root.insert("type".into(), "object".into());
        root.insert("properties".into(), Value::Object(properties));
        if !required.is_empty() {
            root.insert("required".into(), Value::Array(required));
        }
        root.insert("additionalProperties".into(), false.into());
        let (schema, widths) = finish(root, generator, canonical::normalise);
        // Most tools declare no value to judge. A schema that cannot be compiled is reported at registration.
        let validator = LazyCell::new(|| {
            Validator::with_widths(&schema, Validation::Declared, &SchemaResources::new(), &widths).ok()
        });
        let root = schema.as_object();
        for (name, arg) in owners {
            let Some(root) = root else { break };
            let Some(property) = root.get("properties").and_then(|all| all.get(&name)) else { continue };
            for (word, value) in declared_values(property) {
                problems
                    .extend(validator.iter().flat_map(|validator| misfits(&name, word, value, validator)));
            }
            let own = Map::from_iter([(name.clone(), property.clone())]);
            let fields = Value::Object(Map::from_iter([("properties".into(), Value::Object(own))]));
            let found = match arg.is_flat() {
                true => credential_field("", &fields, root),
                false => credential_field(&name, property, root),
            };
            if let (Some(field), false) = (found, arg.is_not_secret()) {
                problems.push(format!(
                    "parameter `{}`: its field `{field}` looks like a credential, which a model must neither see nor \
                     choose; take it from the state with `#[inject]`, rename the field for what it is, or write \
                     `#[arg(not_secret)]` before the parameter",
                    arg.name()
                ));
            }
        }
        drop(validator);
        Self { schema, widths, flat, problems }
    }
}

/// The values that a parameter declares, each with its word: its default, its examples, and what it lists.
fn declared_values(property: &Value) -> impl Iterator<Item = (&'static str, &Value)> {
    let one = property.get("default").map(|value| ("default", value));
    let lists = [("example", "examples"), ("one_of", "enum")].into_iter();
    one.into_iter().chain(lists.flat_map(|(word, keyword)| {
        let values = property.get(keyword).and_then(Value::as_array).into_iter().flatten();
        values.map(move |value| (word, value))
    }))
}

/// Why the parameter's own schema refuses a value that it declares.
fn misfits(name: &str, word: &str, value: &Value, validator: &Validator) -> Vec<String> {
    let alone = Value::Object(Map::from_iter([(name.to_owned(), value.clone())]));
    // A `null` of an optional field is as good as none, in a declared value as in a call.
    let alone = validator.without_nulls(&alone).unwrap_or(alone);
    let problems = validator.validate(&alone).err().unwrap_or_default();
    let own = problems.iter().filter(|problem| problem.got != "nothing");
    let texts = own.map(|problem| {
        let (expected, got) = (&problem.expected, &problem.got);
        format!(
            "parameter `{name}`: its `{word}` is not what it declares: expected {expected}, got {got}; change one of \
             the two"
        )
    });
    texts.collect()
}

/// The fields of a flattened parameter: name, schema, and whether the model must give a value.
fn fields(property: Property) -> Result<Vec<(String, Value, bool)>, String> {
    let (all_required, type_name) = (property.required, property.type_name);
    let refused = || {
        format!(
            "`flatten` needs a struct with named fields, and `{type_name}` is not shown as one; remove `flatten`, or \
             take such a struct"
        )
    };
    let Value::Object(mut schema) = property.schema.to_value() else { return Err(refused()) };
    let has_alternatives =
        ["$ref", "anyOf", "oneOf", "allOf"].iter().any(|keyword| schema.contains_key(*keyword));
    let required = schema.remove("required");
    let named = match schema.remove("properties") {
        Some(Value::Object(fields)) if !has_alternatives && !fields.is_empty() => fields,
        _ => return Err(refused()),
    };
    let required = required.as_ref().and_then(Value::as_array);
    let is_required = |name: &String| required.is_some_and(|names| names.iter().any(|known| known == name));
    Ok(named
        .into_iter()
        .map(|(name, schema)| {
            let is_required = all_required && is_required(&name);
            (name, schema, is_required)
        })
        .collect())
}

pub(super) fn output_schema(output: fn(&mut SchemaGenerator) -> Option<Schema>) -> Option<Value> {
    let mut generator = generator();
    let Value::Object(root) = output(&mut generator)?.to_value() else { return None };
    Some(finish(root, generator, canonical::normalise_output).0)
}

fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true).into_generator()
}

fn finish(
    mut root: Map<String, Value>,
    mut generator: SchemaGenerator,
    normalise: fn(&mut Value),
) -> (Value, Vec<(String, Width)>) {
    let definitions = generator.take_definitions(true);
    if !definitions.is_empty() {
        root.insert("$defs".into(), Value::Object(definitions));
    }
    let mut schema = Value::Object(root);
    normalise(&mut schema);
    let widths = canonical::take_widths(&mut schema);
    (schema, widths)
}
