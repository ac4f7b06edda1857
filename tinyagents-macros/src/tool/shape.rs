//! What a parameter is to JSON, as far as the spelling of its type tells.
//!
//! Guarantee: a word of `#[arg]` is refused by it only if no type of that spelling takes the word.
//!
//! Not here: aliases and types of the user, which the schema tells when the tool is registered.

use syn::Type;

use super::kind::{Owned, first_argument, last_segment, optional};

/// What a type is to JSON, as far as its spelling tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A string.
    Text,
    /// An integer or a float.
    Number,
    /// `true` or `false`.
    Bool,
    /// An array.
    List,
    /// An object with any keys.
    Map,
}

fn shape(ty: &Type) -> Option<Shape> {
    const NUMBERS: &[&str] = &[
        "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize", "f32", "f64",
    ];
    if let Some(inner) = optional(ty) {
        return shape(inner);
    }
    let segment = last_segment(ty)?;
    let name = segment.ident.to_string();
    let has_arguments = !segment.arguments.is_empty();
    match (name.as_str(), has_arguments) {
        ("String" | "PathBuf" | "str", false) => Some(Shape::Text),
        ("bool", false) => Some(Shape::Bool),
        ("Vec" | "VecDeque" | "HashSet" | "BTreeSet", true) => Some(Shape::List),
        ("HashMap" | "BTreeMap", true) => Some(Shape::Map),
        ("Box" | "Arc" | "Rc" | "Cow", true) => first_argument(segment).and_then(shape),
        (number, false) if NUMBERS.contains(&number) => Some(Shape::Number),
        _ => None,
    }
}

impl Owned {
    /// What the type is to JSON, as far as its spelling tells.
    pub(crate) fn shape(&self) -> Option<Shape> {
        match self {
            Self::Text(_) | Self::OptionalText(_) | Self::Path(_) => Some(Shape::Text),
            Self::Elements(_) | Self::OptionalElements(_) => Some(Shape::List),
            Self::Type(ty) | Self::Optional(ty) => shape(ty),
        }
    }
}
