//! The names under which repairs of a call are recorded.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How a call was brought into the form that its tool's schema asks for. Each rule is exact and applies only where
/// the schema asks for it; none closes a text that was cut off or chooses between two readings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RepairRule {
    /// A blank string in place of all arguments means that there are none.
    NoArguments,
    /// Half of a surrogate pair in the JSON text became U+FFFD.
    LoneSurrogate,
    /// An object or an array came as a JSON string.
    Unwrapped,
    /// An integer came as a string, such as `"200000"` or `"4.0"`.
    Integer,
    /// A number came as a string, such as `"4.5"`.
    Number,
    /// `true` or `false` came as a string.
    Boolean,
    /// `"null"` or `"None"` came for a parameter that may be left out. Where that is a string it is kept, and recorded
    /// as not applied.
    NullText,
    /// A value differs from exactly one of the allowed ones by case, blanks around it, or `-` for `_`.
    EnumValue,
    /// A field's name differs from exactly one declared name by case, blanks around it, `-` or `_`.
    FieldName,
    /// The tool's name differs from exactly one that was shown by case, blanks around it, `-` or `_`.
    ToolName,
    /// A single value came where a list is wanted.
    SingleItem,
    /// A field that no parameter has was left out, because `ExtraArgs::DropWithNotice` says so.
    Dropped,
}

impl fmt::Display for RepairRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoArguments => "no_arguments",
            Self::LoneSurrogate => "lone_surrogate",
            Self::Unwrapped => "unwrapped",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::NullText => "null_text",
            Self::EnumValue => "enum_value",
            Self::FieldName => "field_name",
            Self::ToolName => "tool_name",
            Self::SingleItem => "single_item",
            Self::Dropped => "dropped",
        })
    }
}
