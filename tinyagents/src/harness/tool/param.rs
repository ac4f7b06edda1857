//! The model's parameters: one table entry each, shared by schema, defaults and decoding.
//!
//! `#[tool]` writes a constant per parameter instead of a struct with derives: compiling a hundred tools costs a
//! third, every message names the parameter, and nothing can collide with the user's types.

use std::sync::OnceLock;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::{DeserializeOwned, IntoDeserializer};
use serde_json::{Map, Value};

use super::validate::{canonical, nearest};
use super::{InjectedArgSpec, ToolCall, ToolError, ToolFormat, ToolSpec, Validation};
use crate::harness::policy::ToolPolicy;

/// A type that a model can choose a value of: owned, with `Deserialize` and `JsonSchema`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter that the model chooses",
    label = "this type has no JSON schema or cannot be read from JSON",
    note = "if the model must not choose it, write `#[inject]` before the parameter",
    note = "otherwise derive `serde::Deserialize` and `schemars::JsonSchema` (schemars 1.x, or the copies \
            `tinyagents::serde` and `tinyagents::schemars`) for `{Self}`"
)]
pub trait ModelArg: DeserializeOwned + JsonSchema {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema> ModelArg for T {}

/// A [`ModelArg`] whose default can be shown to the model: also `Serialize`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter with a default",
    label = "this type has no JSON schema, or cannot be read from JSON or written as JSON",
    note = "derive `serde::Serialize`, `serde::Deserialize` and `schemars::JsonSchema` for `{Self}`: the model is \
            shown the default"
)]
pub trait DefaultedArg: ModelArg {
    /// The default as the model sees it.
    fn to_json(&self) -> Option<Value>;
}

#[diagnostic::do_not_recommend]
impl<T: ModelArg + Serialize> DefaultedArg for T {
    fn to_json(&self) -> Option<Value> {
        // `None` of an `Option` is no value, and its property is shown without `null`.
        serde_json::to_value(self).ok().filter(|value| !value.is_null())
    }
}

/// One parameter that the model chooses. Its type is bound once, in [`Arg::of`] or [`Arg::defaulted`].
pub struct Arg<T> {
    name: &'static str,
    description: &'static str,
    schema: fn(&mut SchemaGenerator) -> Schema,
    decode: fn(&Value) -> Result<T, serde_json::Error>,
    missing: fn() -> Option<T>,
    default: Option<fn() -> T>,
    to_json: fn(&T) -> Option<Value>,
}

impl<T> Arg<T> {
    /// A parameter as the function declares it.
    pub const fn of(name: &'static str, description: &'static str) -> Self
    where
        T: ModelArg,
    {
        Self {
            name,
            description,
            schema: |generator| generator.subschema_for::<T>(),
            decode: |value| T::deserialize(value),
            // What a missing field deserialises to: `None` for an `Option`, whatever it is called; else an error.
            missing: || T::deserialize(Missing.into_deserializer()).ok(),
            default: None,
            to_json: |_| None,
        }
    }

    /// A parameter that gets a default.
    pub const fn defaulted(name: &'static str, description: &'static str) -> Self
    where
        T: DefaultedArg,
    {
        Self { to_json: T::to_json, ..Self::of(name, description) }
    }

    /// The value for when the model leaves it out. Without a bound of its own: the compiler would report it at the
    /// value, not at the type.
    pub const fn or(self, default: fn() -> T) -> Self {
        Self { default: Some(default), ..self }
    }
}

/// Deserialises to nothing: only `Option` takes that.
struct Missing;

impl<'de> IntoDeserializer<'de, serde::de::value::Error> for Missing {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> serde::Deserializer<'de> for Missing {
    type Error = serde::de::value::Error;

    fn deserialize_any<V: serde::de::Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(serde::de::Error::missing_field(""))
    }

    fn deserialize_option<V: serde::de::Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_none()
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// A parameter without its type.
pub trait ArgDef: Sync {
    /// The name the model uses.
    fn name(&self) -> &'static str;
    /// The property's schema, and whether the model must give a value.
    fn property(&self, generator: &mut SchemaGenerator) -> (Schema, bool);
}

impl<T> ArgDef for Arg<T> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn property(&self, generator: &mut SchemaGenerator) -> (Schema, bool) {
        let mut schema = (self.schema)(generator);
        let optional = (self.missing)().is_some();
        if optional {
            canonical::drop_null(&mut schema);
        }
        if !self.description.is_empty() {
            schema.insert("description".into(), self.description.into());
        }
        if let Some(value) = self.default.and_then(|default| (self.to_json)(&default())) {
            schema.insert("default".into(), value);
        }
        (schema, !optional && self.default.is_none())
    }
}

/// A [`ToolFormat`] whose parameters are the tool's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// JSON function calling.
    Json,
    /// XML tags.
    Xml,
    /// Ordered parameters.
    PType,
}

/// Everything `#[tool]` read off a function.
pub struct ToolDef {
    /// The tool's name.
    pub name: &'static str,
    /// What it does, for the model.
    pub description: &'static str,
    /// Parameters that the model chooses, in declared order.
    pub args: &'static [&'static dyn ArgDef],
    /// Parameters that the runtime fills: name and kind.
    pub injected: &'static [(&'static str, &'static str)],
    /// How it is shown.
    pub format: Shown,
    /// The declared policy.
    pub policy: fn() -> ToolPolicy,
    /// The schema of the returned value, if it has one.
    pub output: fn(&mut SchemaGenerator) -> Option<Schema>,
    /// The specification, once it was asked for.
    pub spec: OnceLock<ToolSpec>,
}

impl ToolDef {
    /// The specification, built once.
    pub fn spec(&'static self) -> &'static ToolSpec {
        self.spec.get_or_init(|| {
            let mut spec = ToolSpec::new(self.name, self.description, self.input_schema());
            spec.output_schema = self.output_schema().map(Into::into);
            spec.injected = self
                .injected
                .iter()
                .map(|(name, kind)| InjectedArgSpec { name: (*name).into(), kind: (*kind).into() })
                .collect();
            spec.format = match self.format {
                Shown::Json => ToolFormat::Json,
                Shown::Xml => ToolFormat::Xml,
                Shown::PType => {
                    ToolFormat::PType { parameters: self.args.iter().map(|arg| arg.name().into()).collect() }
                }
            };
            spec.validation = Validation::Declared;
            spec.with_policy(&(self.policy)())
        })
    }

    /// A copy of the specification, for the trait.
    pub fn to_spec(&'static self) -> ToolSpec {
        self.spec().clone()
    }

    fn input_schema(&self) -> Value {
        let mut generator = generator();
        let mut properties = Map::new();
        let mut required = Vec::new();
        for arg in self.args {
            let (schema, is_required) = arg.property(&mut generator);
            properties.insert(arg.name().into(), schema.to_value());
            if is_required {
                required.push(Value::from(arg.name()));
            }
        }
        let mut root = Map::new();
        root.insert("type".into(), "object".into());
        root.insert("properties".into(), Value::Object(properties));
        if !required.is_empty() {
            root.insert("required".into(), Value::Array(required));
        }
        root.insert("additionalProperties".into(), false.into());
        finish(root, generator)
    }

    fn output_schema(&self) -> Option<Value> {
        let mut generator = generator();
        let Value::Object(root) = (self.output)(&mut generator)?.to_value() else { return None };
        Some(finish(root, generator))
    }

    /// Opens a call's arguments for reading, parameter by parameter.
    ///
    /// # Errors
    ///
    /// The arguments are no object, or hold a key that is no parameter: a hidden parameter's name among them.
    pub fn decode<'a>(&self, call: &'a ToolCall) -> Result<Decoder<'a>, ToolError> {
        let object = match &*call.arguments {
            Value::Object(object) => Some(object),
            Value::Null => None,
            other => {
                let got = canonical::type_name(other);
                return Err(ToolError::retry_with(format!("the arguments must be one object, not {got}")));
            }
        };
        for key in object.into_iter().flat_map(Map::keys) {
            if !self.args.iter().any(|arg| arg.name() == key) {
                let names: Vec<_> = self.args.iter().map(|arg| arg.name()).collect();
                return Err(ToolError::retry_with(nearest::unknown_argument(key, &names)));
            }
        }
        Ok(Decoder { object })
    }
}

fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true).into_generator()
}

fn finish(mut root: Map<String, Value>, mut generator: SchemaGenerator) -> Value {
    let definitions = generator.take_definitions(true);
    if !definitions.is_empty() {
        root.insert("$defs".into(), Value::Object(definitions));
    }
    let mut schema = Value::Object(root);
    canonical::normalise(&mut schema);
    schema
}

/// Reads the arguments of one call.
pub struct Decoder<'a> {
    object: Option<&'a Map<String, Value>>,
}

impl<'a> Decoder<'a> {
    fn value(&self, name: &str) -> Option<&'a Value> {
        self.object.and_then(|object| object.get(name))
    }

    /// The value of a parameter.
    ///
    /// # Errors
    ///
    /// It is missing, or does not fit the type; the text names the parameter.
    pub fn read<T>(&self, arg: &Arg<T>) -> Result<T, ToolError> {
        match self.value(arg.name) {
            Some(value) if !value.is_null() => {
                (arg.decode)(value).map_err(|error| misfit(arg.name, &error.to_string()))
            }
            given => match (arg.default, given) {
                (Some(default), _) => Ok(default()),
                (None, Some(null)) => (arg.decode)(null).map_err(|e| misfit(arg.name, &e.to_string())),
                (None, None) => (arg.missing)().ok_or_else(|| missing(arg.name)),
            },
        }
    }

    /// The text of a `&str` parameter, borrowed from the call.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn read_str(&self, arg: &Arg<String>) -> Result<std::borrow::Cow<'a, str>, ToolError> {
        match self.value(arg.name) {
            Some(Value::String(text)) => Ok(text.as_str().into()),
            _ => self.read(arg).map(Into::into),
        }
    }
}

fn missing(name: &str) -> ToolError {
    ToolError::retry_with(format!("argument `{name}` is missing"))
}

fn misfit(name: &str, reason: &str) -> ToolError {
    ToolError::retry_with(format!("argument `{name}`: {}", canonical::schema_words(reason)))
}
