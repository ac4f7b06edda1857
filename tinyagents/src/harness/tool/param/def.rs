//! A generated tool as data: its specification is built from this once, and its calls are read by it.
//!
//! Guarantee: nothing is registered whose declarations contradict each other, and a call's arguments are read
//! without a copy, save for flattened parameters.
//!
//! Not here: how one parameter is shown (`property`) or read (`Arg`).

use std::borrow::Cow;
use std::sync::OnceLock;

use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value};

use super::input::{Flat, Input, output_schema};
use super::{Arg, ArgDef};
use crate::harness::policy::ToolPolicy;
use crate::harness::tool::validate::{Width, canonical, nearest};
use crate::harness::tool::{
    ArgumentProblem, InjectedArgSpec, ToolCall, ToolClass, ToolError, ToolFormat, ToolSpec, Validation,
};

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
#[derive(Clone, Copy)]
pub struct Decl {
    name: &'static str,
    description: &'static str,
    args: &'static [&'static dyn ArgDef],
    injected: &'static [(&'static str, &'static str)],
    format: Shown,
    classified: bool,
    policy: fn(&mut ToolPolicy),
    output: fn(&mut SchemaGenerator) -> Option<Schema>,
    blocking: bool,
    recursive: bool,
    effect: Option<fn(&Value) -> ToolClass>,
    grant_keys: Option<fn(&Value) -> Vec<String>>,
}

impl Decl {
    /// A tool without parameters and policy, whose name was checked.
    pub const fn new(name: &'static str, description: &'static str) -> Self {
        Self {
            name,
            description,
            args: &[],
            injected: &[],
            format: Shown::Json,
            classified: false,
            policy: |_| {},
            output: |_| None,
            blocking: false,
            recursive: false,
            effect: None,
            grant_keys: None,
        }
    }

    /// Parameters that the runtime fills: name and kind.
    pub const fn injected(self, injected: &'static [(&'static str, &'static str)]) -> Self {
        Self { injected, ..self }
    }

    /// How it is shown.
    pub const fn format(self, format: Shown) -> Self {
        Self { format, ..self }
    }

    /// The declared policy.
    pub const fn classified(self, policy: fn(&mut ToolPolicy)) -> Self {
        Self { classified: true, policy, ..self }
    }

    /// What is hidden of a tool that declares no policy.
    pub const fn unclassified(self, policy: fn(&mut ToolPolicy)) -> Self {
        Self { policy, ..self }
    }

    /// The schema of the returned value, if it has one.
    pub const fn output(self, output: fn(&mut SchemaGenerator) -> Option<Schema>) -> Self {
        Self { output, ..self }
    }

    /// A call blocks its thread.
    pub const fn blocking(self) -> Self {
        Self { blocking: true, ..self }
    }

    /// The body drives a nested run.
    pub const fn recursive(self) -> Self {
        Self { recursive: true, ..self }
    }

    /// The class of one call.
    pub const fn effect(self, effect: fn(&Value) -> ToolClass) -> Self {
        Self { effect: Some(effect), ..self }
    }

    /// What a grant for one call covers.
    pub const fn grant_keys(self, grant_keys: fn(&Value) -> Vec<String>) -> Self {
        Self { grant_keys: Some(grant_keys), ..self }
    }

    /// The tool, with the parameters that the model chooses, in declared order.
    pub const fn tool(self, args: &'static [&'static dyn ArgDef]) -> ToolDef {
        ToolDef { decl: Self { args, ..self }, built: OnceLock::new() }
    }
}

/// A generated tool.
pub struct ToolDef {
    decl: Decl,
    built: OnceLock<Built>,
}

/// What is worked out once.
struct Built {
    spec: ToolSpec,
    widths: Vec<(String, Width)>,
    /// The fields of each flattened parameter.
    flat: Vec<Flat>,
    /// The parameters whose types may refuse what the schema takes.
    asked: Vec<&'static dyn ArgDef>,
    problems: Vec<String>,
}

impl ToolDef {
    /// The specification, built once.
    pub fn spec(&'static self) -> &'static ToolSpec {
        &self.built().spec
    }

    /// A copy of the specification, for the trait.
    pub fn to_spec(&'static self) -> ToolSpec {
        self.spec().clone()
    }

    /// The declared policy.
    pub fn policy(&self) -> ToolPolicy {
        let mut policy = ToolPolicy { classified: self.decl.classified, ..ToolPolicy::default() };
        (self.decl.policy)(&mut policy);
        policy
    }

    pub(crate) fn is_blocking(&self) -> bool {
        self.decl.blocking
    }

    pub(crate) fn is_recursive(&self) -> bool {
        self.decl.recursive
    }

    pub(crate) fn effect(&self, arguments: &Value) -> Option<ToolClass> {
        self.decl.effect.map(|effect| effect(arguments))
    }

    pub(crate) fn grant_keys(&self, arguments: &Value) -> Option<Vec<String>> {
        self.decl.grant_keys.map(|keys| keys(arguments))
    }

    /// The wide numbers of the schema, by JSON Pointer: their bounds are checked, not shown.
    pub(crate) fn widths(&'static self) -> &'static [(String, Width)] {
        &self.built().widths
    }

    /// Why the tool cannot be registered.
    pub(crate) fn problems(&'static self) -> &'static [String] {
        &self.built().problems
    }

    /// Whether some of its types may refuse arguments that the schema takes.
    pub(crate) fn asks_types(&'static self) -> bool {
        !self.built().asked.is_empty()
    }

    /// What the types refuse of arguments that the schema takes.
    pub(crate) fn unread(&'static self, arguments: &Value) -> Vec<ArgumentProblem> {
        let built = self.built();
        let decoder = Decoder { object: arguments.as_object(), flat: &built.flat };
        built.asked.iter().filter_map(|arg| arg.unread(&decoder)).collect()
    }

    /// Other names of parameters, each with the name that the schema shows.
    pub(crate) fn aliases(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.decl.args.iter().flat_map(|arg| arg.aliases().iter().map(|alias| (*alias, arg.name())))
    }

    fn built(&'static self) -> &'static Built {
        self.built.get_or_init(|| {
            let Decl { name, description, args, injected, format, output, .. } = self.decl;
            let Input { schema, widths, flat, problems } = Input::of(args, injected);
            let mut spec = ToolSpec::new(name, description, schema);
            spec.output_schema = output_schema(output).map(Into::into);
            spec.injected = injected
                .iter()
                .map(|(name, kind)| InjectedArgSpec { name: (*name).into(), kind: (*kind).into() })
                .collect();
            spec.format = match format {
                Shown::Json => ToolFormat::Json,
                Shown::Xml => ToolFormat::Xml,
                Shown::PType => {
                    ToolFormat::PType { parameters: args.iter().map(|arg| arg.name().into()).collect() }
                }
            };
            spec.validation = Validation::Declared;
            let asked = args.iter().copied().filter(|arg| !arg.reads_all()).collect();
            Built { spec: spec.with_policy(&self.policy()), widths, flat, asked, problems }
        })
    }

    /// Opens a call's arguments for reading, parameter by parameter.
    ///
    /// # Errors
    ///
    /// The arguments are no object, or hold a key that is no parameter: a hidden parameter's name among them; or two
    /// names of one parameter.
    pub fn decode<'a>(&'static self, call: &'a ToolCall) -> Result<Decoder<'a>, ToolError> {
        let object = match &*call.arguments {
            Value::Object(object) => Some(object),
            Value::Null => None,
            other => {
                let got = canonical::type_name(other);
                return Err(ToolError::retry_with(format!("the arguments must be one object, not {got}")));
            }
        };
        let args = self.decl.args;
        let flat: &[Flat] = if args.iter().any(|arg| arg.is_flat()) { &self.built().flat } else { &[] };
        for key in object.into_iter().flat_map(Map::keys) {
            let own = args
                .iter()
                .find(|arg| !arg.is_flat() && (arg.name() == key || arg.aliases().contains(&key.as_str())));
            // An alias beside another name of its parameter; that name itself needs no second report.
            let alias_of = own.filter(|arg| arg.name() != key).zip(object);
            let doubled = alias_of.and_then(|(arg, object)| Some((arg, other_name(object, *arg, key)?)));
            if let Some((arg, other)) = doubled {
                let text = format!("`{key}` and `{other}` are one argument; give only `{}`", arg.name());
                return Err(ToolError::retry_with(text));
            }
            if own.is_none() && !flat.iter().any(|flat| flat.fields.contains(key)) {
                let names = args.iter().filter(|arg| !arg.is_flat()).map(|arg| arg.name());
                let fields = flat.iter().flat_map(|flat| flat.fields.iter().map(String::as_str));
                let names: Vec<_> = names.chain(fields).collect();
                return Err(ToolError::retry_with(nearest::unknown_argument(key, &names)));
            }
        }
        Ok(Decoder { object, flat })
    }
}

/// Another name of the same parameter that was given too.
fn other_name(object: &Map<String, Value>, arg: &dyn ArgDef, key: &str) -> Option<&'static str> {
    let names = std::iter::once(arg.name()).chain(arg.aliases().iter().copied());
    names.into_iter().find(|name| *name != key && object.contains_key(*name))
}

/// A value by its key. In an object of few keys, as most calls have, looking at each is quicker than hashing one.
fn entry<'a>(object: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
    const FEW: usize = 16;
    if object.len() > FEW {
        return object.get(key);
    }
    object.iter().find_map(|(name, value)| (name == key).then_some(value))
}

/// Reads the arguments of one call.
pub struct Decoder<'a> {
    object: Option<&'a Map<String, Value>>,
    flat: &'a [Flat],
}

impl<'a> Decoder<'a> {
    /// What a call gives for a parameter: of a flattened one, the object of its own keys among all.
    pub(super) fn given<T>(&self, arg: &Arg<T>) -> Option<Cow<'a, Value>> {
        if !arg.flat {
            let object = self.object?;
            let mut names = std::iter::once(&arg.name).chain(arg.aliases);
            return names.find_map(|name| entry(object, name)).map(Cow::Borrowed);
        }
        let fields = self.flat.iter().find(|flat| flat.parameter == arg.name).map(|flat| &*flat.fields);
        let given = self.object.into_iter().flatten();
        let own = given.filter(|(key, _)| fields.is_some_and(|fields| fields.contains(*key)));
        let own: Map<_, _> = own.map(|(key, value)| (key.clone(), value.clone())).collect();
        let is_left_out = own.is_empty() && (arg.missing)().is_some();
        (!is_left_out).then(|| Cow::Owned(own.into()))
    }

    /// The value of a parameter.
    ///
    /// # Errors
    ///
    /// It is missing, or does not fit the type; the text names the parameter.
    pub fn read<T>(&self, arg: &Arg<T>) -> Result<T, ToolError> {
        let decode = |value: &Value| {
            (arg.decode)(value).map_err(|error| {
                let place =
                    if arg.flat { "the arguments".into() } else { format!("argument `{}`", arg.name) };
                ToolError::retry_with(format!("{place}: {}", canonical::schema_words(&error.to_string())))
            })
        };
        match (self.given(arg), arg.default) {
            (Some(value), _) if !value.is_null() => decode(&value),
            (_, Some(default)) => Ok(default()),
            (Some(null), None) => decode(&null),
            (None, None) => (arg.missing)().ok_or_else(|| missing(arg.name)),
        }
    }

    /// The text of a `&str` parameter, borrowed from the call.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn read_str(&self, arg: &Arg<String>) -> Result<Cow<'a, str>, ToolError> {
        match self.given(arg) {
            Some(Cow::Borrowed(Value::String(text))) => Ok(text.as_str().into()),
            _ => self.read(arg).map(Into::into),
        }
    }
}

fn missing(name: &str) -> ToolError {
    ToolError::retry_with(format!("argument `{name}` is missing"))
}
