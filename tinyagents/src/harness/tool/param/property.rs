//! A parameter's schema, and the words of `#[arg]` that go into it.
//!
//! Guarantee: a word that cannot hold for the parameter's type is a problem, which is reported when the tool is
//! registered; it is never dropped.
//!
//! Not here: enforcement, which is the validator's.

use schemars::Schema;
use serde::Serialize;
use serde_json::Value;

use crate::harness::tool::validate::canonical;

/// A parameter as the model is shown it.
pub struct Property {
    pub(super) schema: Schema,
    pub(super) type_name: &'static str,
    /// Whether the model must give a value.
    pub(super) required: bool,
    /// What `one_of` lists.
    pub(super) choices: Vec<Value>,
    /// Words that cannot hold.
    pub(super) problems: Vec<String>,
}

/// A number that ends a `range`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an end of a `range`",
    label = "a range ends at a number: an integer up to 64 bits, or a float"
)]
pub trait RangeEnd {
    /// The number as a schema has it.
    fn to_json(self) -> Value;
}

macro_rules! range_ends {
    ($($number:ty)*) => {$(
        impl RangeEnd for $number {
            fn to_json(self) -> Value {
                self.into()
            }
        }
    )*};
}

range_ends!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64);

impl Property {
    pub(super) fn new(schema: Schema, type_name: &'static str) -> Self {
        Self { schema, type_name, required: true, choices: Vec::new(), problems: Vec::new() }
    }

    /// It may be left out; `null` says the same and is not shown.
    pub(super) fn optional(&mut self, takes_null: bool) {
        self.required = false;
        if takes_null {
            canonical::drop_null(&mut self.schema);
        }
    }

    pub(super) fn set(&mut self, keyword: &str, value: Value) {
        self.schema.insert(keyword.into(), value);
    }

    /// `range = min..`.
    pub fn at_least(&mut self, min: impl RangeEnd) {
        self.bound("minimum", min);
    }

    /// `range = ..=max`.
    pub fn at_most(&mut self, max: impl RangeEnd) {
        self.bound("maximum", max);
    }

    /// `range = ..end`.
    pub fn below(&mut self, end: impl RangeEnd) {
        self.bound("exclusiveMaximum", end);
    }

    fn bound(&mut self, keyword: &str, end: impl RangeEnd) {
        match self.kind() {
            Some("integer" | "number") => self.set(keyword, end.to_json()),
            _ => self.problem("range", "bounds numbers", "use `len`, or `one_of`, or remove it"),
        }
    }

    /// `len = min..`.
    pub fn len_at_least(&mut self, min: usize) {
        self.length("min", min);
    }

    /// `len = ..=max`.
    pub fn len_at_most(&mut self, max: usize) {
        self.length("max", max);
    }

    /// `len = ..end`.
    pub fn len_below(&mut self, end: usize) {
        self.length("max", end.saturating_sub(1));
    }

    fn length(&mut self, side: &str, size: usize) {
        let unit = match self.kind() {
            Some("string") => "Length",
            Some("array") => "Items",
            Some("object") => "Properties",
            _ => return self.problem("len", "bounds texts, lists and maps", "use `range`, or remove it"),
        };
        self.set(&format!("{side}{unit}"), size.into());
    }

    /// `pattern = ".."`.
    pub fn pattern(&mut self, pattern: &str) {
        self.text("pattern", pattern);
    }

    /// `format = ".."`.
    pub fn format(&mut self, format: &str) {
        self.text("format", format);
    }

    fn text(&mut self, word: &str, value: &str) {
        match self.kind() {
            Some("string") => self.set(word, value.into()),
            _ => self.problem(word, "describes texts", "take a `String`, or remove it"),
        }
    }

    /// A value of `one_of = [..]`.
    pub fn choice(&mut self, value: impl Serialize) {
        if let Some("array" | "object") = self.kind() {
            let text = "lists the values of the parameter itself";
            return self.problem("one_of", text, "take a list of an enum type instead");
        }
        let choice = self.written("one_of", value);
        self.choices.extend(choice);
    }

    /// `example = ..`.
    pub fn example(&mut self, value: impl Serialize) {
        let example = self.written("example", value);
        match self.schema.as_object_mut().and_then(|object| object.get_mut("examples")) {
            Some(Value::Array(examples)) => examples.extend(example),
            _ => self.set("examples", Value::Array(example.into_iter().collect())),
        }
    }

    fn written(&mut self, word: &str, value: impl Serialize) -> Option<Value> {
        let value = serde_json::to_value(value);
        value
            .map_err(|error| self.problems.push(format!("a value of its `{word}` cannot be shown: {error}")))
            .ok()
    }

    /// Shows the listed values: what the type itself lists is narrowed.
    pub(super) fn close(&mut self) {
        if self.choices.is_empty() {
            return;
        }
        let listed = self.schema.get("enum").and_then(Value::as_array);
        let strange = self.choices.iter().find(|value| listed.is_some_and(|values| !values.contains(value)));
        if let Some(value) = strange {
            let text = format!("its `one_of` lists {value}, which `{}` is never; remove it", self.type_name);
            self.problems.push(text);
        }
        let choices = self.choices.clone();
        self.set("enum", Value::Array(choices));
    }

    /// The schema's one type.
    fn kind(&self) -> Option<&str> {
        self.schema.get("type").and_then(Value::as_str)
    }

    fn problem(&mut self, word: &str, does: &str, way_out: &str) {
        let is = match self.kind() {
            Some(kind) => format!("this is shown as `{kind}`"),
            None => format!("nothing says what `{}` is shown as", self.type_name),
        };
        let text = format!("its `{word}` {does}, and {is}; {way_out}");
        if !self.problems.contains(&text) {
            self.problems.push(text);
        }
    }
}
