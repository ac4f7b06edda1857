//! The tools of one request, within what a provider allows.

use serde_json::Value;

use super::{Lossy, LossyAction, SchemaDialect};
use crate::harness::tool::ToolSchema;
use crate::harness::tool::validate::keywords::{Kind, kind};

/// The tools of one request as a provider accepts them.
#[derive(Debug, Clone, PartialEq)]
pub struct AdaptedSet {
    /// The tools, in the order they came.
    pub tools: Vec<AdaptedTool>,
    /// What concerns the request as a whole.
    pub notes: Vec<Lossy>,
}

/// One tool as a provider accepts it.
#[derive(Debug, Clone, PartialEq)]
pub struct AdaptedTool {
    /// The tool, with the adapted schema as its parameters.
    pub schema: ToolSchema,
    /// What the provider does not see of it.
    pub notes: Vec<Lossy>,
    /// Whether it is sent with the flag for strict mode.
    pub strict: bool,
}

impl SchemaDialect {
    /// Writes the tools of one request as the provider accepts them. A tool that is over a limit of strict mode, or
    /// that does not fit into what earlier tools left, is not strict, and its notes say which limit it was; no tool
    /// makes the request fail.
    pub fn adapt_all(&self, tools: &[ToolSchema]) -> AdaptedSet {
        let mut used = Size::default();
        let mut notes = Vec::new();
        if self.limits.tools.is_some_and(|most| tools.len() > most) {
            notes.push(Lossy {
                path: String::new(),
                keyword: "tools".into(),
                action: LossyAction::OverLimit,
            });
        }
        let adapted = tools.iter().map(|tool| {
            let canonical: &Value = &tool.parameters;
            let mut adapted = self.adapt(canonical);
            if adapted.strict_ok {
                let size = Size::of(&adapted.schema, 0);
                match self.over(&used, &size) {
                    None => used.add(&size),
                    Some(limit) => {
                        let reason = Lossy {
                            path: String::new(),
                            keyword: limit.into(),
                            action: LossyAction::NotStrict,
                        };
                        adapted = self.adapt_relaxed(canonical, vec![reason]);
                    }
                }
            }
            let mut schema = tool.clone();
            schema.parameters = adapted.schema.into();
            AdaptedTool { schema, notes: adapted.notes, strict: adapted.strict_ok }
        });
        AdaptedSet { tools: adapted.collect(), notes }
    }

    /// The limit that one more strict tool would break.
    fn over(&self, used: &Size, size: &Size) -> Option<&'static str> {
        let limits = &self.limits;
        let over = |most: Option<usize>, count: usize| most.is_some_and(|most| count > most);
        [
            ("properties", over(limits.properties, size.properties)),
            ("depth", over(limits.depth, size.depth)),
            ("enum", over(limits.enum_values, size.enum_values)),
            ("strict", over(limits.strict_tools, used.tools + 1)),
            ("required", over(limits.optional_properties, used.optional + size.optional)),
            ("anyOf", over(limits.union_properties, used.unions + size.unions)),
        ]
        .into_iter()
        .find_map(|(limit, is_over)| is_over.then_some(limit))
    }
}

/// What the limits of a request count.
#[derive(Debug, Default)]
struct Size {
    tools: usize,
    properties: usize,
    depth: usize,
    enum_values: usize,
    optional: usize,
    unions: usize,
}

impl Size {
    fn of(schema: &Value, level: usize) -> Self {
        let mut size = Self::default();
        let Value::Object(object) = schema else { return size };
        let declared = object.get("properties").and_then(Value::as_object);
        let level = level + usize::from(declared.is_some());
        size.depth = level;
        let required = object.get("required").and_then(Value::as_array).map_or(0, Vec::len);
        let count = declared.map_or(0, serde_json::Map::len);
        size.properties = count;
        size.optional = count.saturating_sub(required);
        size.enum_values = object.get("enum").and_then(Value::as_array).map_or(0, Vec::len);
        let is_union = object.contains_key("anyOf") || object.get("type").is_some_and(Value::is_array);
        size.unions = usize::from(is_union);
        for (keyword, value) in object {
            match (kind(keyword), value) {
                (Kind::Schema, schema) => size.within(&Self::of(schema, level)),
                (Kind::Schemas, Value::Array(schemas)) => {
                    schemas.iter().for_each(|schema| size.within(&Self::of(schema, level)));
                }
                (Kind::NamedSchemas, Value::Object(schemas)) => {
                    schemas.values().for_each(|schema| size.within(&Self::of(schema, level)));
                }
                _ => {}
            }
        }
        size
    }

    fn within(&mut self, part: &Self) {
        self.properties += part.properties;
        self.depth = self.depth.max(part.depth);
        self.enum_values += part.enum_values;
        self.optional += part.optional;
        self.unions += part.unions;
    }

    fn add(&mut self, tool: &Self) {
        self.tools += 1;
        self.optional += tool.optional;
        self.unions += tool.unions;
    }
}
