//! Names and identifiers: cheap to clone, plain strings when serialised.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

macro_rules! string_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Wraps the text as it is.
            pub fn new(id: impl Into<Arc<str>>) -> Self {
                Self(id.into())
            }

            /// The identifier as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        string_value!($name);

        impl From<&str> for $name {
            fn from(id: &str) -> Self {
                Self(id.into())
            }
        }

        impl From<String> for $name {
            fn from(id: String) -> Self {
                Self(id.into())
            }
        }
    };
}

macro_rules! string_value {
    ($name:ident) => {
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&*self.0, f)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                &*self.0 == other
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                &*self.0 == *other
            }
        }
    };
}

string_id! {
    /// One run of the agent loop.
    RunId
}
string_id! {
    /// One conversation, which may be continued by several runs.
    ThreadId
}
string_id! {
    /// The id that ties a tool call to its result, as the provider knows it.
    ToolCallId
}
string_id! {
    /// What a tool gives to a service so that a call which is made again has its effect once.
    ///
    /// It is the same for every attempt of one call, and another for every other call: it is made of the run's id,
    /// the turn and the call's index. So two runs must not share an id.
    IdempotencyKey
}

/// The canonical name of a tool.
///
/// A name that an application chooses goes through [`ToolName::new`], and one that another program chose (an MCP
/// server) through [`ToolName::external`]. Only a result that answers a call of an unknown tool carries whatever the
/// model wrote, so that the transcript stays faithful.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ToolName(Arc<str>);

string_value!(ToolName);

/// Why a text cannot be the name of a tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolNameError {
    /// The name has no characters.
    #[error("a tool name must not be empty")]
    Empty,
    /// The name is longer than every provider accepts.
    #[error("tool name `{name}` has {length} bytes; providers accept at most {max}", max = ToolName::MAX_BYTES)]
    TooLong {
        /// The refused name.
        name: String,
        /// Its length in bytes.
        length: usize,
    },
    /// The name holds a character that some provider refuses, or does not begin with a letter or `_`.
    #[error(
        "tool name `{name}` must be ASCII snake_case (a-z, 0-9 and `_`, not beginning with a digit); \
         write `{suggestion}`"
    )]
    NotSnakeCase {
        /// The refused name.
        name: String,
        /// The nearest name that would be accepted.
        suggestion: String,
    },
    /// The name of an imported tool holds a space or a control character.
    #[error(
        "tool name `{name}` holds U+{code:04X}; an imported name may hold neither spaces nor control characters",
        name = .name.escape_debug(),
        code = u32::from(*.character)
    )]
    Blank {
        /// The refused name.
        name: String,
        /// The first character that is refused.
        character: char,
    },
}

impl ToolName {
    /// The longest name that every provider accepts, in bytes.
    pub const MAX_BYTES: usize = 64;

    /// Checks a name: `^[a-z_][a-z0-9_]{0,63}$`, the form that every provider takes without escaping.
    ///
    /// # Errors
    ///
    /// Says which rule the name breaks and, for a wrong character, which name to use instead.
    pub fn new(name: impl Into<Arc<str>>) -> Result<Self, ToolNameError> {
        let name = name.into();
        if name.is_empty() {
            return Err(ToolNameError::Empty);
        }
        let snake = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if !name.chars().all(snake) || name.starts_with(|c: char| c.is_ascii_digit()) {
            let suggestion = snake_case(&name);
            return Err(ToolNameError::NotSnakeCase { name: name.to_string(), suggestion });
        }
        if name.len() > Self::MAX_BYTES {
            return Err(ToolNameError::TooLong { length: name.len(), name: name.to_string() });
        }
        Ok(Self(name))
    }

    /// Checks a name that another program chose: it is not empty, and holds no white space and no control character
    /// (Unicode's `White_Space` and `Cc`). A provider whose rule is narrower is shown an alias.
    ///
    /// # Errors
    ///
    /// Says which rule the name breaks.
    pub fn external(name: impl Into<Arc<str>>) -> Result<Self, ToolNameError> {
        let name = name.into();
        if name.is_empty() {
            return Err(ToolNameError::Empty);
        }
        match name.chars().find(|c| c.is_whitespace() || c.is_control()) {
            Some(character) => Err(ToolNameError::Blank { name: name.to_string(), character }),
            None => Ok(Self(name)),
        }
    }

    /// A name as the model wrote it, for the answer to a call that no tool took.
    pub(crate) fn unchecked(name: &str) -> Self {
        Self(name.into())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The nearest ASCII snake_case spelling of a name.
fn snake_case(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    let mut previous_lower = false;
    for c in name.trim().chars() {
        if c.is_ascii_uppercase() {
            if previous_lower {
                out.push('_');
            }
            out.push(c.to_ascii_lowercase());
            previous_lower = false;
        } else if c.is_ascii_lowercase() || c.is_ascii_digit() {
            out.push(c);
            previous_lower = true;
        } else if !out.ends_with('_') && !out.is_empty() {
            out.push('_');
            previous_lower = false;
        }
    }
    let trimmed = out.trim_end_matches('_');
    let mut name = if trimmed.is_empty() { "tool".to_string() } else { trimmed.to_string() };
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert(0, '_');
    }
    name.truncate(ToolName::MAX_BYTES);
    name
}
