//! The dialects of known providers.

use super::vocabulary::{
    ANTHROPIC_STRICT, DEEPSEEK_STRICT, GEMINI, GEMINI_JSON, OLLAMA, OPENAI_STRICT, VLLM, WIDE,
};
use super::{
    AnyValue, Formats, Lengths, Limits, Maps, Nullable, Objects, Recursion, Refs, SchemaDialect, Tuples,
};

use crate::harness::message::{ProviderRules, Spelling};

/// What SDKs of OpenAI and Anthropic pass on.
const STRICT_FORMATS: &[&str] =
    &["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

const PROPERTY_64: Spelling = Spelling::of("_.-", 1, 64);

impl SchemaDialect {
    /// JSON Schema as it is: the root an object without alternatives, nothing else changed. For providers of which
    /// nothing is known.
    pub fn canonical() -> Self {
        Self {
            name: "canonical",
            strict: false,
            relaxed: None,
            keywords: WIDE,
            refs: Refs::Keep,
            one_of_as_any_of: false,
            merge_all_of: false,
            const_as_enum: false,
            nullable: Nullable::TypeList,
            text_enums_only: false,
            formats: Formats::NoRustIntegers,
            inclusive_bounds: false,
            look_around: true,
            lengths: Lengths::Keep,
            only_first_item: false,
            tuples: Tuples::Keep,
            maps: Maps::Keep,
            objects: Objects::Keep,
            any_value: AnyValue::Empty,
            require_all: false,
            property_name: None,
            limits: Limits::default(),
        }
    }

    /// OpenAI without strict mode: `"strict": false`, sent explicitly.
    ///
    /// At most 128 tools, and no alternatives at the root, also without strict mode (reports).
    pub fn openai() -> Self {
        Self { name: "openai", limits: Limits { tools: Some(128), ..Limits::default() }, ..Self::canonical() }
    }

    /// OpenAI's strict mode (`"strict": true`); [`openai`](Self::openai) where a tool cannot be strict.
    ///
    /// Every object is closed and requires all its properties (specification, SDK); a reference has nothing beside
    /// it, `allOf` and unknown formats are refused (reports); numeric bounds and `pattern` are taken, lengths of
    /// texts are not, nor `oneOf`, and one schema holds at most 5,000 properties, 10 levels and 1,000 enum values
    /// (documentation).
    pub fn openai_strict() -> Self {
        Self {
            name: "openai-strict",
            strict: true,
            relaxed: Some(Box::new(Self::openai())),
            keywords: OPENAI_STRICT,
            refs: Refs::InlineSiblings,
            one_of_as_any_of: true,
            merge_all_of: true,
            formats: Formats::Only(STRICT_FORMATS),
            look_around: false,
            tuples: Tuples::AnyOfItems,
            maps: Maps::NotStrict,
            objects: Objects::Close,
            any_value: AnyValue::NotStrict,
            require_all: true,
            limits: Limits {
                tools: Some(128),
                properties: Some(5_000),
                depth: Some(10),
                enum_values: Some(1_000),
                ..Limits::default()
            },
            ..Self::openai()
        }
    }

    /// Anthropic without strict tool use, which is the default.
    ///
    /// Properties of the root of up to 64 from `a-z A-Z 0-9 _ . -`, and no alternatives at the root (reports); the root
    /// is an object (specification).
    pub fn anthropic() -> Self {
        Self { name: "anthropic", property_name: Some(PROPERTY_64), ..Self::canonical() }
    }

    /// Anthropic's strict tool use, one flag for each tool; [`anthropic`](Self::anthropic) where a tool cannot be
    /// strict.
    ///
    /// Objects are closed; of bounds only `minItems` 0 and 1, a list of formats, `anyOf` for `oneOf` (SDK). No types
    /// that contain themselves, no patterns that look around (documentation). At most 20 strict tools with 24
    /// optional properties and 16 of several types between them (reports).
    pub fn anthropic_strict() -> Self {
        Self {
            name: "anthropic-strict",
            strict: true,
            relaxed: Some(Box::new(Self::anthropic())),
            keywords: ANTHROPIC_STRICT,
            refs: Refs::InlineAll(Recursion::NotStrict),
            one_of_as_any_of: true,
            merge_all_of: true,
            formats: Formats::Only(STRICT_FORMATS),
            look_around: false,
            only_first_item: true,
            tuples: Tuples::NotStrict,
            maps: Maps::NotStrict,
            objects: Objects::Close,
            any_value: AnyValue::NotStrict,
            limits: Limits {
                strict_tools: Some(20),
                optional_properties: Some(24),
                union_properties: Some(16),
                ..Limits::default()
            },
            ..Self::anthropic()
        }
    }

    /// Gemini's own schema (`parameters`), for surfaces without `parametersJsonSchema`.
    ///
    /// `nullable` for null, no references, no `oneOf`, `allOf` or `prefixItems` (specification); other unknown
    /// names, lists of types and `const` are refused (reports). Properties begin with a letter or `_` and have up to
    /// 64 characters `a-z A-Z 0-9 _` (specification). At most 128 tools (documentation).
    pub fn gemini() -> Self {
        Self {
            name: "gemini",
            keywords: GEMINI,
            refs: Refs::InlineAll(Recursion::Depth(3)),
            one_of_as_any_of: true,
            merge_all_of: true,
            const_as_enum: true,
            nullable: Nullable::Keyword,
            text_enums_only: true,
            formats: Formats::Only(&["int32", "int64", "float", "double", "enum", "date-time"]),
            inclusive_bounds: true,
            tuples: Tuples::AnyOfItems,
            maps: Maps::Describe,
            objects: Objects::Strip,
            any_value: AnyValue::Text,
            property_name: Some(Spelling { word: true, ..Spelling::of("_", 1, 64) }),
            limits: Limits { tools: Some(128), ..Limits::default() },
            ..Self::canonical()
        }
    }

    /// Gemini's JSON Schema (`parametersJsonSchema`), where the surface has it.
    ///
    /// References and `additionalProperties` are taken (specification); `const`, exclusive bounds and `uniqueItems`
    /// are refused as unknown names (reports). Formats of texts go into the description.
    pub fn gemini_json() -> Self {
        Self {
            name: "gemini-json",
            keywords: GEMINI_JSON,
            merge_all_of: true,
            const_as_enum: true,
            formats: Formats::Only(&["int32", "int64", "float", "double"]),
            limits: Limits { tools: Some(128), ..Limits::default() },
            ..Self::canonical()
        }
    }

    /// Mistral: no rules for schemas are known.
    pub fn mistral() -> Self {
        Self { name: "mistral", ..Self::canonical() }
    }

    /// Groq: at most 128 tools (specification).
    pub fn groq() -> Self {
        Self { name: "groq", ..Self::openai() }
    }

    /// DeepSeek's strict mode, which is a beta behind an address of its own; the form of OpenAI's without strict
    /// mode where a tool cannot be strict.
    ///
    /// Every object is closed and requires all its properties; no reference within `anyOf`, no bounds, five formats
    /// (documentation).
    pub fn deepseek_strict() -> Self {
        let plain = Self { name: "deepseek", ..Self::openai() };
        Self {
            name: "deepseek-strict",
            strict: true,
            relaxed: Some(Box::new(plain.clone())),
            keywords: DEEPSEEK_STRICT,
            refs: Refs::InlineAll(Recursion::NotStrict),
            one_of_as_any_of: true,
            merge_all_of: true,
            const_as_enum: true,
            nullable: Nullable::AnyOf,
            formats: Formats::Only(&["email", "hostname", "ipv4", "ipv6", "uuid"]),
            tuples: Tuples::NotStrict,
            maps: Maps::NotStrict,
            objects: Objects::Close,
            any_value: AnyValue::NotStrict,
            require_all: true,
            ..plain
        }
    }

    /// Bedrock's Converse, whatever model is behind it.
    ///
    /// `additionalProperties` and references are left out, because models other than Claude refuse them; properties as
    /// Claude has them (reports). `oneOf` becomes `anyOf`: objects that are no longer closed may fit several of its
    /// arms.
    pub fn bedrock() -> Self {
        Self {
            name: "bedrock",
            refs: Refs::InlineAll(Recursion::Depth(3)),
            one_of_as_any_of: true,
            objects: Objects::Strip,
            maps: Maps::Describe,
            property_name: Some(PROPERTY_64),
            ..Self::canonical()
        }
    }

    /// Ollama's native interface: what its server reads into a structure of seven keywords; it drops the rest, and
    /// resolves no reference (source).
    pub fn ollama() -> Self {
        Self {
            name: "ollama",
            keywords: OLLAMA,
            refs: Refs::InlineAll(Recursion::Depth(3)),
            one_of_as_any_of: true,
            merge_all_of: true,
            const_as_enum: true,
            tuples: Tuples::Describe,
            maps: Maps::Describe,
            objects: Objects::Strip,
            ..Self::canonical()
        }
    }

    /// The server of llama.cpp: references to `$defs` and types that contain themselves, but no `#` and no boolean
    /// schema; in an open object a model invents keys (captured). Lengths near 2,000 break its grammars (reports),
    /// so those over 1,000 are told in the description.
    pub fn llama_cpp() -> Self {
        Self {
            name: "llama.cpp",
            refs: Refs::InlineSiblings,
            merge_all_of: true,
            lengths: Lengths::AtMost(1_000),
            objects: Objects::Close,
            ..Self::canonical()
        }
    }

    /// vLLM with its default backend, which has no grammar for `multipleOf`, `uniqueItems`, `contains`,
    /// `patternProperties` and a length beside a `pattern` or `format` (source).
    pub fn vllm() -> Self {
        Self {
            name: "vllm",
            keywords: VLLM,
            formats: Formats::Only(STRICT_FORMATS),
            lengths: Lengths::Alone,
            ..Self::canonical()
        }
    }

    /// All dialects, each with another name.
    pub fn all() -> Vec<Self> {
        vec![
            Self::openai_strict(),
            Self::openai(),
            Self::anthropic(),
            Self::anthropic_strict(),
            Self::gemini(),
            Self::gemini_json(),
            Self::mistral(),
            Self::groq(),
            Self::deepseek_strict(),
            Self::bedrock(),
            Self::ollama(),
            Self::llama_cpp(),
            Self::vllm(),
        ]
    }

    /// The dialect that a provider's models are spoken to by default: OpenAI's is strict, tool by tool; Anthropic's
    /// and DeepSeek's are not. [`canonical`](Self::canonical) for a name that [`ProviderRules::of`] does not know.
    pub fn for_provider(name: &str) -> Self {
        match ProviderRules::of(name).map(|rules| rules.provider).as_deref() {
            Some("openai") => Self::openai_strict(),
            Some("anthropic") => Self::anthropic(),
            Some("gemini") => Self::gemini_json(),
            Some("mistral") => Self::mistral(),
            Some("groq") => Self::groq(),
            Some("deepseek") => Self { name: "deepseek", ..Self::openai() },
            Some("bedrock") => Self::bedrock(),
            Some("ollama") => Self::ollama(),
            Some("llama.cpp") => Self::llama_cpp(),
            Some("vllm") => Self::vllm(),
            _ => Self::canonical(),
        }
    }
}
