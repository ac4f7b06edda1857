//! What a provider accepts as a tool's schema, and the way from the canonical schema to it.
//!
//! Guarantee: whatever JSON goes in, a schema comes out, always the same bytes, in bounded time; every rule that
//! the provider will not see is in the report, and the canonical schema still enforces it.
//!
//! Not here: names of tools (the registry's aliases), validation.

mod bound;
mod describe;
mod keywords;
mod map_back;
mod merge;
mod names;
mod node;
mod objects;
mod presets;
mod refs;
mod root;
mod set;
mod unions;
mod vocabulary;
mod words;

pub use set::{AdaptedSet, AdaptedTool};

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::harness::message::Spelling;

/// The form of schemas that one provider accepts, as data.
///
/// A constructor's documentation says what the provider takes and how that is known: from its specification or
/// SDK, from a capture of a real server, from reports, from its documentation, or from experience. What is not from
/// the first two is a default that may be changed field by field. How names of tools and ids of calls are spelled is not
/// a matter of schemas: [`ProviderRules`](crate::harness::message::ProviderRules) says it.
///
/// ```
/// use tinyagents::harness::tool::dialect::SchemaDialect;
/// use tinyagents::serde_json::json;
///
/// let canonical = json!({
///     "type": "object",
///     "properties": { "limit": { "type": "integer", "minLength": 1 } },
///     "additionalProperties": false
/// });
/// let adapted = SchemaDialect::openai_strict().adapt(&canonical);
/// assert!(adapted.strict_ok);
/// assert_eq!(adapted.schema["required"], json!(["limit"]));
/// assert_eq!(adapted.schema["properties"]["limit"]["type"], json!(["integer", "null"]));
/// assert_eq!(adapted.notes[0].keyword, "minLength");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SchemaDialect {
    /// What it is called: `openai-strict`, `gemini`, ...
    pub name: &'static str,
    /// Whether tools are sent with the provider's flag for strict mode.
    pub strict: bool,
    /// How a tool is sent that strict mode cannot express.
    pub relaxed: Option<Box<SchemaDialect>>,
    /// Which keywords arrive. Every other rule is told in the description.
    pub keywords: &'static [&'static str],
    /// What becomes of `$ref`.
    pub refs: Refs,
    /// Whether `oneOf` is written as `anyOf`.
    pub one_of_as_any_of: bool,
    /// Whether the members of `allOf` are merged into the schema they stand in.
    pub merge_all_of: bool,
    /// Whether `const` is written as an `enum` of one value.
    pub const_as_enum: bool,
    /// How a value that may be null is written.
    pub nullable: Nullable,
    /// Whether an `enum` may only list texts; another one is told in the description.
    pub text_enums_only: bool,
    /// Which values of `format` arrive.
    pub formats: Formats,
    /// Whether `exclusiveMinimum` and `exclusiveMaximum` are written as `minimum` and `maximum`.
    pub inclusive_bounds: bool,
    /// Whether a `pattern` may look around. One that may not is told in the description.
    pub look_around: bool,
    /// Which `minLength` and `maxLength` arrive.
    pub lengths: Lengths,
    /// Whether `minItems` may only be 0 or 1, and `maxItems` is not known.
    pub only_first_item: bool,
    /// What becomes of `prefixItems`.
    pub tuples: Tuples,
    /// What becomes of objects whose keys are not all declared.
    pub maps: Maps,
    /// What becomes of `additionalProperties`.
    pub objects: Objects,
    /// What becomes of a schema that takes any value.
    pub any_value: AnyValue,
    /// Whether every property must be required. An optional one is then sent as null, and
    /// [`map_back`](Self::map_back) leaves it out.
    pub require_all: bool,
    /// What a property may be called; nothing where any name will do.
    pub property_name: Option<Spelling>,
    /// How much one request may hold.
    pub limits: Limits,
}

/// What becomes of references.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refs {
    /// They stay, each to an entry of `$defs` at the root.
    Keep,
    /// Those with other keywords beside them are written out.
    InlineSiblings,
    /// All are written out.
    InlineAll(Recursion),
}

/// What becomes of a type that contains itself, where references cannot stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recursion {
    /// Its tool is not strict.
    NotStrict,
    /// It is written out so many times, and is open below that.
    Depth(usize),
}

/// How a value that may be null is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nullable {
    /// `"type": ["string", "null"]`.
    TypeList,
    /// `"anyOf": [.., { "type": "null" }]`; a type is never a list.
    AnyOf,
    /// `"nullable": true`; a type is never a list.
    Keyword,
}

/// Which formats arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Formats {
    /// Every one.
    All,
    /// Every one but those of integers of other widths than 32 and 64 bits or without a sign.
    NoRustIntegers,
    /// These.
    Only(&'static [&'static str]),
}

/// Which bounds on the length of a text arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lengths {
    /// Every one.
    Keep,
    /// Those that are no larger.
    AtMost(u64),
    /// Those without a `pattern` or `format` beside them.
    Alone,
}

/// What becomes of `prefixItems`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tuples {
    /// It stays.
    Keep,
    /// Each item may be any of its members.
    AnyOfItems,
    /// It is told in the description.
    Describe,
    /// Its tool is not strict.
    NotStrict,
}

/// What becomes of objects whose keys are not all declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Maps {
    /// They stay.
    Keep,
    /// They are open objects; what their values look like is told in the description.
    Describe,
    /// Their tool is not strict.
    NotStrict,
}

/// What becomes of `additionalProperties`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Objects {
    /// It stays.
    Keep,
    /// An object that declares its properties and says nothing of others is closed. That is no loss: what is not
    /// declared is refused anyway.
    Close,
    /// It is left out.
    Strip,
}

/// What becomes of a schema that takes any value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnyValue {
    /// `{}`.
    Empty,
    /// Every schema must name its type, so it is a text.
    Text,
    /// Every schema must name its type, so its tool is not strict.
    NotStrict,
}

/// How much one request may hold; nothing where no limit is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    /// Tools.
    pub tools: Option<usize>,
    /// Properties of one strict schema, all levels together.
    pub properties: Option<usize>,
    /// Levels of objects within objects in one strict schema.
    pub depth: Option<usize>,
    /// Values of all enums of one strict schema.
    pub enum_values: Option<usize>,
    /// Strict tools.
    pub strict_tools: Option<usize>,
    /// Optional properties of all strict tools.
    pub optional_properties: Option<usize>,
    /// Properties of all strict tools that take one of several types.
    pub union_properties: Option<usize>,
}

/// One way in which a provider sees less, or other, than the canonical schema says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lossy {
    /// Where, as a JSON Pointer (RFC 6901) into the schema with its references resolved.
    pub path: String,
    /// The keyword that it is about.
    pub keyword: String,
    /// What was done.
    pub action: LossyAction,
}

/// What was done to a keyword that a provider does not take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LossyAction {
    /// The description tells it; the provider does not hold a model to it.
    Described,
    /// It is gone.
    Dropped,
    /// What stands in its place allows more.
    Widened,
    /// What stands in its place allows less: some valid values cannot be sent.
    Narrowed,
    /// It stays, and so its tool cannot be strict.
    NotStrict,
    /// There is more of it than one request may hold: a run ends with an error before the request is sent.
    OverLimit,
}

impl fmt::Display for Lossy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let done = match self.action {
            LossyAction::Described => "told in the description only",
            LossyAction::Dropped => "left out",
            LossyAction::Widened => "replaced by something that allows more",
            LossyAction::Narrowed => "replaced by something that allows less",
            LossyAction::NotStrict => "not possible in strict mode",
            LossyAction::OverLimit => "more than the provider takes, so no request is sent",
        };
        let path = if self.path.is_empty() { "/" } else { &self.path };
        write!(f, "`{}` at `{path}`: {done}", self.keyword)
    }
}

/// A schema as a provider accepts it.
#[derive(Debug, Clone, PartialEq)]
pub struct Adapted {
    /// The schema.
    pub schema: Value,
    /// What the provider does not see, in the order of the schema.
    pub notes: Vec<Lossy>,
    /// Whether the tool may be sent with the flag for strict mode. Always `false` in a dialect without one.
    pub strict_ok: bool,
}

impl SchemaDialect {
    /// Writes a schema as the provider accepts it. Whatever JSON comes in, this ends and does not fail: what is no
    /// schema is left out with a note, and what is too large becomes an open object with a note.
    ///
    /// A schema that strict mode cannot express is written in the [`relaxed`](Self::relaxed) dialect, and the first
    /// notes say why.
    pub fn adapt(&self, canonical: &Value) -> Adapted {
        let mut pass = Pass::new(self);
        let schema = pass.run(canonical);
        if pass.blocked.is_empty() {
            return Adapted { schema, notes: pass.notes, strict_ok: self.strict };
        }
        self.adapt_relaxed(canonical, pass.blocked)
    }

    /// The schema in the relaxed dialect, with the reasons.
    fn adapt_relaxed(&self, canonical: &Value, mut reasons: Vec<Lossy>) -> Adapted {
        let mut pass = Pass::new(self.relaxed.as_deref().unwrap_or(self));
        let schema = pass.run(canonical);
        reasons.append(&mut pass.notes);
        Adapted { schema, notes: reasons, strict_ok: false }
    }
}

/// One schema on its way into a dialect.
struct Pass<'a> {
    dialect: &'a SchemaDialect,
    notes: Vec<Lossy>,
    /// Why the schema cannot be strict.
    blocked: Vec<Lossy>,
    /// How many schemas were visited, all steps together.
    visited: usize,
}

impl<'a> Pass<'a> {
    fn new(dialect: &'a SchemaDialect) -> Self {
        Self { dialect, notes: Vec::new(), blocked: Vec::new(), visited: 0 }
    }

    fn run(&mut self, canonical: &Value) -> Value {
        let bounded = bound::copy(canonical, "", 0, self);
        let resolved = refs::resolve(&bounded, self);
        let object = root::object(resolved, self);
        node::root(object, self)
    }

    fn note(&mut self, path: &str, keyword: &str, action: LossyAction) {
        let note = Lossy { path: path.to_string(), keyword: keyword.to_string(), action };
        if self.notes.last() != Some(&note) {
            self.notes.push(note);
        }
    }

    fn block(&mut self, path: &str, keyword: &str) {
        let action = LossyAction::NotStrict;
        self.blocked.push(Lossy { path: path.to_string(), keyword: keyword.to_string(), action });
    }

    /// Whether every schema must name its type.
    fn is_typed(&self) -> bool {
        self.dialect.any_value != AnyValue::Empty
    }
}
