//! The model's parameters: one table entry each, shared by schema, defaults and decoding.
//!
//! Guarantee: what `#[arg]` declares of a parameter stands in its schema, which is what the validator enforces.
//!
//! `#[tool]` writes a constant per parameter instead of a struct with derives: compiling a hundred tools costs a
//! third, every message names the parameter, and nothing can collide with the user's types.

mod def;
mod input;
mod property;
mod secret;

pub use def::{Decl, Decoder, Shown, ToolDef};
pub use property::{Property, RangeEnd};

use std::any::TypeId;
use std::panic::{AssertUnwindSafe, catch_unwind};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::{DeserializeOwned, IntoDeserializer};
use serde_json::Value;

use crate::harness::message::shortened;
use crate::harness::tool::ArgumentProblem;
use crate::harness::tool::validate::{canonical, shown};

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
        to_json(self)
    }
}

/// A type that a model can be shown, and that `#[arg(with = ..)]` reads: with `JsonSchema`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be shown to the model",
    label = "this type has no JSON schema",
    note = "`with` says how the value is read; also say how it is shown: derive `schemars::JsonSchema` for \
            `{Self}`, or write `#[arg(with = .., schema_with = ..)]`"
)]
pub trait ShownArg: JsonSchema {}

#[diagnostic::do_not_recommend]
impl<T: JsonSchema> ShownArg for T {}

/// A type that can be read from JSON, and that `#[arg(schema_with = ..)]` shows: with `Deserialize`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from JSON",
    label = "this type does not implement `Deserialize`",
    note = "`schema_with` says how the value is shown; also say how it is read: derive `serde::Deserialize` for \
            `{Self}`, or write `#[arg(with = .., schema_with = ..)]`"
)]
pub trait ReadArg: DeserializeOwned {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned> ReadArg for T {}

/// One parameter that the model chooses. Its type is bound once, where the entry begins: in [`Arg::of`],
/// [`Arg::defaulted`], [`Arg::flattened`], [`Arg::shown`] or [`Arg::readable`].
pub struct Arg<T> {
    name: &'static str,
    description: &'static str,
    schema: fn(&mut SchemaGenerator) -> Schema,
    decode: fn(&Value) -> Result<T, serde_json::Error>,
    missing: fn() -> Option<T>,
    default: Option<fn() -> T>,
    to_json: fn(&T) -> Option<Value>,
    words: fn(&mut Property),
    aliases: &'static [&'static str],
    flat: bool,
    not_secret: bool,
    /// Whether its type alone says how it is read and shown.
    by_type: bool,
}

impl<T> Arg<T> {
    /// A parameter that the function's author says how to read and how to show.
    pub const fn bare(name: &'static str, description: &'static str) -> Self {
        Self {
            name,
            description,
            schema: |_| Schema::default(),
            decode: |_| Err(serde::de::Error::custom("nothing reads it")),
            missing: || None,
            default: None,
            to_json: |_| None,
            words: |_| {},
            aliases: &[],
            flat: false,
            not_secret: false,
            by_type: false,
        }
    }

    /// A parameter that [`with`](Self::with) reads.
    pub const fn shown(name: &'static str, description: &'static str) -> Self
    where
        T: ShownArg,
    {
        Self { schema: |generator| generator.subschema_for::<T>(), ..Self::bare(name, description) }
    }

    /// A parameter that [`schema_with`](Self::schema_with) shows.
    pub const fn readable(name: &'static str, description: &'static str) -> Self
    where
        T: ReadArg,
    {
        Self {
            decode: |value| T::deserialize(value),
            // What a missing field deserialises to: `None` for an `Option`, whatever it is called; else an error.
            missing: || T::deserialize(Missing.into_deserializer()).ok(),
            ..Self::bare(name, description)
        }
    }

    /// A parameter as the function declares it.
    pub const fn of(name: &'static str, description: &'static str) -> Self
    where
        T: ModelArg,
    {
        Self {
            schema: |generator| generator.subschema_for::<T>(),
            by_type: true,
            ..Self::readable(name, description)
        }
    }

    /// A parameter that gets a default.
    pub const fn defaulted(name: &'static str, description: &'static str) -> Self
    where
        T: DefaultedArg,
    {
        Self { to_json: T::to_json, ..Self::of(name, description) }
    }

    /// A parameter whose fields are the tool's parameters.
    pub const fn flattened(name: &'static str) -> Self
    where
        T: ModelArg,
    {
        Self { schema: T::json_schema, flat: true, ..Self::of(name, "") }
    }

    /// How the value is read.
    pub const fn with(self, decode: fn(&Value) -> Result<T, serde_json::Error>) -> Self {
        Self { decode, by_type: false, ..self }
    }

    /// How the value is shown.
    pub const fn schema_with(self, schema: fn(&mut SchemaGenerator) -> Schema) -> Self {
        Self { schema, by_type: false, ..self }
    }

    /// The value for when the model leaves it out. Without a bound of its own: the compiler would report it at the
    /// value, not at the type.
    pub const fn or(self, default: fn() -> T) -> Self {
        Self { default: Some(default), ..self }
    }

    /// The default of a parameter that is read or shown by a function, as the model sees it.
    pub const fn or_shown(self, default: fn() -> T) -> Self
    where
        T: Serialize,
    {
        Self { default: Some(default), to_json: to_json::<T>, ..self }
    }

    /// What else the function's author declares.
    pub const fn words(self, words: fn(&mut Property)) -> Self {
        Self { words, ..self }
    }

    /// Other names under which the model's value is taken.
    pub const fn aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    /// Names that look like a credential's are none.
    pub const fn not_secret(self) -> Self {
        Self { not_secret: true, ..self }
    }
}

fn to_json<T: Serialize>(value: &T) -> Option<Value> {
    // `None` of an `Option` is no value, and its property is shown without `null`.
    serde_json::to_value(value).ok().filter(|value| !value.is_null())
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
    /// Other names that are taken.
    fn aliases(&self) -> &'static [&'static str];
    /// Whether its fields are the tool's parameters.
    fn is_flat(&self) -> bool;
    /// Whether names that look like a credential's are none.
    fn is_not_secret(&self) -> bool;
    /// How it is shown.
    fn property(&self, generator: &mut SchemaGenerator) -> Property;
    /// Whether whatever its schema takes is known to be read. Of a map's keys a schema says little, and a type's own
    /// code may refuse anything.
    fn reads_all(&self) -> bool;
    /// Why the value in a call's arguments is not read.
    fn unread(&self, arguments: &Decoder<'_>) -> Option<ArgumentProblem>;
}

impl<T: 'static> ArgDef for Arg<T> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn aliases(&self) -> &'static [&'static str] {
        self.aliases
    }

    fn is_flat(&self) -> bool {
        self.flat
    }

    fn is_not_secret(&self) -> bool {
        self.not_secret
    }

    fn property(&self, generator: &mut SchemaGenerator) -> Property {
        let optional = (self.missing)().is_some();
        let mut property = Property::new((self.schema)(generator), std::any::type_name::<T>());
        if optional || self.default.is_some() {
            property.optional(optional);
        }
        (self.words)(&mut property);
        property.close();
        if !self.description.is_empty() {
            property.set("description", self.description.into());
        }
        if let Some(value) = self.default.and_then(|default| (self.to_json)(&default())) {
            property.set("default", value);
        }
        property
    }

    fn reads_all(&self) -> bool {
        self.by_type && PLAIN.iter().any(|plain| plain() == TypeId::of::<T>())
    }

    fn unread(&self, arguments: &Decoder<'_>) -> Option<ArgumentProblem> {
        let value = arguments.given(self)?;
        // The type's own code reads it, and may do anything.
        let reason = match catch_unwind(AssertUnwindSafe(|| (self.decode)(&value).err())) {
            Ok(error) => canonical::schema_words(&error?.to_string()),
            Err(_) => "its type cannot read it".into(),
        };
        // What was wanted comes last in serde's words; a key that is read as a number has a line of its own.
        let reason = reason.split(" at line ").next().unwrap_or_default();
        let (got, expected) = match reason.rsplit_once(", expected ") {
            Some((got, expected)) => (got.to_string(), expected),
            None => (format!("{} ({reason})", shown(&value)), "another value"),
        };
        let path = if self.flat { String::new() } else { format!("/{}", canonical::escaped(self.name)) };
        Some(ArgumentProblem { path, expected: shortened(expected, 200), got: shortened(&got, 200) })
    }
}

macro_rules! plain {
    ($($of:ty)*) => {
        &[$(TypeId::of::<$of>, TypeId::of::<Option<$of>>, TypeId::of::<Vec<$of>>, TypeId::of::<Option<Vec<$of>>>),*]
    };
}

/// Types that read whatever their schema takes.
const PLAIN: &[fn() -> TypeId] = plain!(bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 String);
