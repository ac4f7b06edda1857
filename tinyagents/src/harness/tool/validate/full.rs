//! Every keyword of draft 2020-12, by the `jsonschema` crate.
//!
//! Guarantee: what the schema says is enforced, `format` aside, which the draft makes an annotation; patterns are
//! matched in linear time; nothing is fetched; what would take too many checks is refused before they are made.
//!
//! Not here: the subset, whose texts are better; it is checked first.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

#[cfg(not(feature = "full-validation"))]
use super::{ArgumentProblem, SchemaError, compile::wrong};

/// Schemas that a `$ref` may name by their URI, for [`Validation::Full`](super::Validation::Full). Nothing is ever
/// fetched: what is not here does not exist.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SchemaResources(Arc<BTreeMap<String, Value>>);

impl SchemaResources {
    /// No resources.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a schema under its absolute URI, without a fragment. A schema that was there is replaced.
    pub fn add(&mut self, uri: impl Into<String>, schema: Value) -> &mut Self {
        Arc::make_mut(&mut self.0).insert(uri.into(), schema);
        self
    }
}

#[cfg(not(feature = "full-validation"))]
#[derive(Debug)]
pub(super) enum Full {}

#[cfg(not(feature = "full-validation"))]
impl Full {
    pub(super) fn compile(_: &Value, _: &SchemaResources) -> Result<Self, SchemaError> {
        let text = "`Validation::Full` needs the feature `full-validation` of this library; switch it on, or use \
                    `Validation::Subset`";
        Err(wrong("", text))
    }

    pub(super) fn report(&self, _: &Value, _: &mut Vec<ArgumentProblem>) {
        match *self {}
    }
}

#[cfg(feature = "full-validation")]
pub(super) use enforced::Full;

#[cfg(feature = "full-validation")]
mod enforced {
    use std::error::Error;
    use std::fmt;

    use jsonschema::error::ValidationErrorKind as Kind;
    use jsonschema::{PatternOptions, Retrieve, Uri, ValidationError};
    use serde_json::Value;

    use super::super::canonical::escaped;
    use super::SchemaResources;
    use crate::harness::tool::validate::check::{LESS, MAX_PROBLEMS, shown};
    use crate::harness::tool::validate::compile::wrong;
    use crate::harness::tool::validate::cost::Cost;
    use crate::harness::tool::validate::{ArgumentProblem, SchemaError, nearest};

    /// The most bytes that one compiled pattern takes.
    const PATTERN_SIZE: usize = 1 << 20;
    /// And all of a schema together.
    const PATTERNS_SIZE: usize = 16 * PATTERN_SIZE;
    /// The most checks, each counted by the levels above it, after which the mistakes are looked for one by one: the
    /// crate collects all of them, however many they are.
    const MAX_TOLD: u64 = 500_000;

    pub(in crate::harness::tool::validate) struct Full {
        validator: jsonschema::Validator,
        cost: Cost,
    }

    impl fmt::Debug for Full {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("Full")
        }
    }

    impl Retrieve for SchemaResources {
        fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn Error + Send + Sync>> {
            let text = "it is not in the schema, and no resource of that name was added";
            self.0.get(uri.as_str()).cloned().ok_or_else(|| text.into())
        }
    }

    impl Full {
        pub(in crate::harness::tool::validate) fn compile(
            schema: &Value,
            resources: &SchemaResources,
        ) -> Result<Self, SchemaError> {
            let cost = Cost::of(schema, resources)?;
            let pattern_size = PATTERN_SIZE.min(PATTERNS_SIZE / cost.patterns.max(1));
            let options = jsonschema::options()
                .with_pattern_options(PatternOptions::regex().size_limit(pattern_size))
                .should_validate_formats(false)
                .with_retriever(resources.clone());
            match options.build(schema) {
                Ok(validator) => Ok(Self { validator, cost }),
                Err(error) => {
                    let text = nearest::shortened(&error.to_string(), 300);
                    Err(wrong(error.instance_path().as_str(), &text))
                }
            }
        }

        /// Adds what the subset did not find.
        pub(in crate::harness::tool::validate) fn report(
            &self,
            value: &Value,
            problems: &mut Vec<ArgumentProblem>,
        ) {
            let checks = self.cost.of_value(value);
            let is_checked = checks.are_made();
            if problems.is_empty() && is_checked && self.validator.is_valid(value) {
                return;
            }
            if is_checked && checks.steps.saturating_mul(checks.levels.into()) <= MAX_TOLD {
                self.tell(value, problems);
            }
            if problems.is_empty() {
                let expected = if is_checked { "a value that the schema accepts" } else { LESS };
                problems.push(ArgumentProblem {
                    path: String::new(),
                    expected: expected.into(),
                    got: shown(value),
                });
            }
        }

        fn tell(&self, value: &Value, problems: &mut Vec<ArgumentProblem>) {
            let found: Vec<String> = problems.iter().map(|problem| problem.path.clone()).collect();
            for error in self.validator.iter_errors(value).take(MAX_PROBLEMS) {
                for problem in problems_of(&error) {
                    if !found.contains(&problem.path) && problems.len() < MAX_PROBLEMS {
                        problems.push(problem);
                    }
                }
            }
        }
    }

    /// One problem, or one for each key that is refused.
    fn problems_of(error: &ValidationError<'_>) -> Vec<ArgumentProblem> {
        let path = error.instance_path().as_str();
        let at = |key: &str| format!("{path}/{}", escaped(key));
        let problem = |path: String, expected: String, got: String| ArgumentProblem { path, expected, got };
        match error.kind() {
            Kind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                vec![problem(at(name), "a value".into(), "nothing".into())]
            }
            Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
                let refused = unexpected.iter().take(MAX_PROBLEMS);
                let text = |name: &String| format!("unknown argument `{}`", nearest::quoted(name, 60));
                refused.map(|name| problem(at(name), "only declared names".into(), text(name))).collect()
            }
            kind => vec![problem(path.into(), expected(error, kind), shown(error.instance()))],
        }
    }

    fn expected(error: &ValidationError<'_>, kind: &Kind) -> String {
        let value = |value: &Value| nearest::shortened(&value.to_string(), 60);
        match kind {
            Kind::Minimum { limit } => format!("a number at least {limit}"),
            Kind::Maximum { limit } => format!("a number at most {limit}"),
            Kind::ExclusiveMinimum { limit } => format!("a number above {limit}"),
            Kind::ExclusiveMaximum { limit } => format!("a number below {limit}"),
            Kind::MultipleOf { multiple_of } => format!("a multiple of {multiple_of}"),
            Kind::MinLength { limit } => format!("at least {limit} characters"),
            Kind::MaxLength { limit } => format!("at most {limit} characters"),
            Kind::MinItems { limit } => format!("at least {limit} items"),
            Kind::MaxItems { limit } => format!("at most {limit} items"),
            Kind::MinProperties { limit } => format!("at least {limit} entries"),
            Kind::MaxProperties { limit } => format!("at most {limit} entries"),
            Kind::UniqueItems => "items that differ from each other".into(),
            Kind::Pattern { pattern } => {
                format!("a text that matches `{}`", nearest::shortened(pattern, 60))
            }
            Kind::Constant { expected_value } => value(expected_value),
            Kind::Enum { options } => match options.as_array() {
                Some(options) => nearest::one_of(options, error.instance()),
                None => value(options),
            },
            Kind::FalseSchema => "nothing here".into(),
            Kind::AnyOf { .. } | Kind::OneOfNotValid { .. } => {
                format!("what one alternative of `{}` asks for", kind.keyword())
            }
            Kind::OneOfMultipleValid { .. } => "what only one alternative of `oneOf` asks for".into(),
            Kind::Not { .. } => "anything but what `not` describes".into(),
            // The crate's own words, without the value, which may be long or secret.
            _ => nearest::shortened(&format!("`{}`: {}", kind.keyword(), error.masked()), 150),
        }
    }
}
