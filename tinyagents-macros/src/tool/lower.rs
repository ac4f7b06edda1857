//! All decisions: from the function as it was read to a plan of what to write.
//!
//! Guarantee: total; an input that passed `check` has exactly one plan.
//!
//! Not here: tokens of the output's shape (`emit`).

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::{Attribute, Ident, LitStr, Type, Visibility};

use super::attr::{ArgWords, DefaultValue, PolicyWords};
use super::check::wire_name;
use super::input::{Input, ModelParam, Param, Role, plain};
use super::kind::{self, Owned, Pass, Source, erased};
use super::limits;
use super::method::Method;
use super::values::Format;
use crate::krate::Krate;

/// What to write.
pub(crate) struct Plan {
    pub(crate) krate: Krate,
    pub(crate) function: TokenStream,
    pub(crate) function_ident: Ident,
    /// Whose method the function is, if it is one.
    pub(crate) method: Option<Method>,
    pub(crate) type_ident: Ident,
    pub(crate) vis: Visibility,
    /// Attributes of the generated type.
    pub(crate) carried: Vec<Attribute>,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) args: Vec<Arg>,
    /// Names and kinds of the injected parameters.
    pub(crate) injected: Vec<(String, String)>,
    /// The variant of `Shown`.
    pub(crate) format: &'static str,
    /// Whether the function declares a policy.
    pub(crate) classified: bool,
    /// What the policy says beside its defaults.
    pub(crate) policy: Vec<(Field, Setting)>,
    /// Functions of the arguments: the class of one call, and what a grant for it covers.
    pub(crate) effect: Option<TokenStream>,
    pub(crate) grant_keys: Option<TokenStream>,
    /// Whether the body drives a nested run.
    pub(crate) recursive: bool,
    /// The return type to look for a schema in.
    pub(crate) schema_of_output: Option<TokenStream>,
    /// Where the returned value's type stands.
    pub(crate) output_span: Span,
    /// Where the returned error's type stands.
    pub(crate) fault_span: Span,
    /// Whether the returned error's type shows a lifetime other than `'static`.
    pub(crate) fault_borrows: bool,
    /// Types that the state must provide.
    pub(crate) provided: Vec<TokenStream>,
    /// Types that the run must make.
    pub(crate) made: Vec<TokenStream>,
    /// Types that the run must find by a key, with each key.
    pub(crate) keyed: Vec<(TokenStream, LitStr)>,
    /// The run context's data, if the function names it.
    pub(crate) context: Option<TokenStream>,
    pub(crate) passed: Vec<Passed>,
    pub(crate) body: Body,
    pub(crate) blocking: bool,
}

/// An entry in the table of the model's parameters.
pub(crate) struct Arg {
    pub(crate) cfg: Vec<Attribute>,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) owned: Owned,
    pub(crate) default: Option<Fallback>,
    /// Whether its fields are the parameters.
    pub(crate) flat: bool,
    pub(crate) not_secret: bool,
    pub(crate) aliases: Vec<String>,
    /// The function that reads the value, and whether a value left out is `None` then.
    pub(crate) with: Option<(TokenStream, bool)>,
    /// The function that shows the value.
    pub(crate) schema_with: Option<TokenStream>,
    /// What else goes into the schema: a method of `Property` and what it is given.
    pub(crate) words: Vec<(&'static str, TokenStream)>,
}

/// How the value for a left-out parameter is made.
pub(crate) enum Fallback {
    /// `Default::default()`.
    OfType,
    /// `From::from(text)`.
    From(LitStr),
    /// The expression.
    Value(TokenStream),
}

/// An argument of the function, in its order.
pub(crate) struct Passed {
    pub(crate) cfg: Vec<Attribute>,
    pub(crate) source: Origin,
}

/// Where an argument comes from.
pub(crate) enum Origin {
    /// The model: the entry's index, whether it is text borrowed from the call, and how it is passed.
    Model { index: usize, text: bool, pass: Pass },
    /// A part of the state.
    State(TokenStream),
    /// The run's context.
    Context,
    /// Made for the call.
    Made(TokenStream),
    /// Found by a key.
    Keyed(TokenStream, LitStr),
}

/// How the body is run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Body {
    /// A plain function.
    Sync,
    /// An async function that owns its arguments: the library builds the future.
    Async,
    /// An async function that borrows: its future needs a block that owns what is lent.
    Lending,
}

/// A field of the policy.
pub(crate) type Field = (&'static str, &'static str);

/// A value of a field.
pub(crate) enum Setting {
    True,
    Some(u64),
    Count(u32),
    Variant(&'static str, &'static str),
    SomeVariant(&'static str, &'static str),
    Texts(Vec<String>),
}

/// Decides everything.
pub(crate) fn plan(input: Input) -> Plan {
    let mut args = Vec::new();
    let mut passed = Vec::new();
    let mut injected = Vec::new();
    let (mut provided, mut made, mut context) = (Vec::new(), Vec::new(), None);
    let (mut keyed, mut credentials) = (Vec::new(), Vec::new());
    let mut lends = false;
    for param in &input.params {
        let source = match &param.role {
            Role::Model(model) => {
                let pass = model.lent.pass;
                lends |= pass != Pass::Move;
                let text = matches!(model.lent.owned, Owned::Text(_)) && model.words.with.is_none();
                args.push(arg(param, model, &input));
                Origin::Model { index: args.len() - 1, text, pass }
            }
            Role::Run(run) => {
                injected.push((plain(&param.ident), run.kind.clone()));
                match &run.source {
                    Source::State(ty) => {
                        lends = true;
                        Origin::State(once(&mut provided, ty))
                    }
                    Source::Context(data) => {
                        lends = true;
                        context = Some(data.as_ref().map_or_else(|| quote!(()), erased));
                        Origin::Context
                    }
                    Source::Value(ty) => Origin::Made(once(&mut made, ty)),
                    Source::Keyed(ty, key) => {
                        if kind::is_secret(ty) {
                            credentials.push(key.value());
                        }
                        keyed.push((erased(ty), key.clone()));
                        Origin::Keyed(erased(ty), key.clone())
                    }
                }
            }
        };
        passed.push(Passed { cfg: param.cfg.clone(), source });
    }
    let body = match (input.is_async, lends) {
        (false, _) => Body::Sync,
        (true, false) => Body::Async,
        (true, true) => Body::Lending,
    };
    let words = &input.attr.words;
    let (output_span, fault_span) = match &input.output {
        None => (input.ident.span(), input.ident.span()),
        Some(ty) => match kind::result(ty) {
            Some((value, error)) => (value.span(), error.span()),
            None => (ty.span(), ty.span()),
        },
    };
    let fault_borrows =
        input.output.as_ref().and_then(kind::result).is_some_and(|(_, error)| kind::borrows(error));
    Plan {
        fault_borrows,
        type_ident: words.type_name.as_ref().map_or_else(|| input.type_ident(), |name| name.0.clone()),
        name: words.name.as_ref().map_or_else(|| plain(&input.ident), |name| name.0.value()),
        description: match &words.description {
            Some(text) => text.0.value(),
            None => input.docs.description.clone(),
        },
        format: match words.format {
            Format::Json => "Json",
            Format::Xml => "Xml",
            Format::PType => "PType",
        },
        classified: input.attr.classified,
        policy: with_credentials(policy(&words.policy, hidden(&input)), credentials),
        effect: words.effect.as_ref().map(|function| function.0.to_token_stream()),
        grant_keys: words.grant_keys.as_ref().map(|function| function.0.to_token_stream()),
        recursive: words.recursive.is_set(),
        schema_of_output: input.output.as_ref().and_then(nameable),
        output_span,
        fault_span,
        blocking: !input.is_async && !words.inline.is_set(),
        krate: input.krate,
        function: input.function,
        function_ident: input.ident,
        method: input.method,
        vis: input.vis,
        carried: input.carried,
        args,
        injected,
        provided,
        made,
        keyed,
        context,
        passed,
        body,
    }
}

fn arg(param: &Param, model: &ModelParam, input: &Input) -> Arg {
    let name = plain(&param.ident);
    let in_section =
        || input.docs.arguments.iter().find(|line| line.name == name).map(|line| &line.description);
    let description = match &model.words.description {
        Some(text) => text.0.value(),
        None if !model.docs.description.is_empty() => model.docs.description.clone(),
        None => in_section().cloned().unwrap_or_default(),
    };
    let words = &model.words;
    Arg {
        flat: words.flatten.is_set(),
        not_secret: words.not_secret.is_set(),
        aliases: words.alias.0.iter().map(LitStr::value).collect(),
        with: words.with.as_ref().map(|function| (function.0.to_token_stream(), model.lent.optional)),
        schema_with: words.schema_with.as_ref().map(|function| function.0.to_token_stream()),
        words: schema_words(words),
        cfg: param.cfg.clone(),
        name: wire_name(param, model).0,
        description,
        owned: model.lent.owned.clone(),
        default: words.default.as_ref().map(|default| match default {
            DefaultValue::OfType => Fallback::OfType,
            DefaultValue::Text(text) => Fallback::From(text.clone()),
            DefaultValue::Value(value) => Fallback::Value(value.to_token_stream()),
        }),
    }
}

/// What goes into the schema beside type, description and default.
fn schema_words(words: &ArgWords) -> Vec<(&'static str, TokenStream)> {
    let mut out = Vec::new();
    if let Some(range) = &words.range {
        let end = if range.0.open { "below" } else { "at_most" };
        out.extend(range.0.start.iter().map(|start| ("at_least", limits::typed(start))));
        out.extend(range.0.end.iter().map(|number| (end, limits::typed(number))));
    }
    if let Some(len) = &words.len {
        let end = if len.0.open { "len_below" } else { "len_at_most" };
        out.extend(len.0.start.iter().map(|start| ("len_at_least", start.to_token_stream())));
        out.extend(len.0.end.iter().map(|number| (end, number.to_token_stream())));
    }
    out.extend(words.pattern.iter().map(|pattern| ("pattern", pattern.text.to_token_stream())));
    out.extend(words.format.iter().map(|format| ("format", format.0.to_token_stream())));
    out.extend(words.one_of.iter().flat_map(|list| &list.0).map(|value| ("choice", limits::typed(value))));
    out.extend(words.example.iter().map(|value| ("example", limits::typed(&value.0))));
    out
}

/// The names under which a model gives what `#[arg(redact)]` hides.
fn hidden(input: &Input) -> Vec<String> {
    let models = input.params.iter().filter_map(|param| match &param.role {
        Role::Model(model) if model.words.redact.is_set() => Some((param, model)),
        _ => None,
    });
    models
        .flat_map(|(param, model)| {
            let aliases = model.words.alias.0.iter().map(LitStr::value);
            std::iter::once(wire_name(param, model).0).chain(aliases)
        })
        .collect()
}

/// Adds a type unless it is there already.
fn once(types: &mut Vec<TokenStream>, ty: &Type) -> TokenStream {
    let ty = erased(ty);
    if !types.iter().any(|other| other.to_string() == ty.to_string()) {
        types.push(ty.clone());
    }
    ty
}

/// The type as a type argument can name it: an opaque or diverging type has no name.
fn nameable(ty: &Type) -> Option<TokenStream> {
    use syn::visit::Visit;
    struct Nameless(bool);
    impl<'ast> Visit<'ast> for Nameless {
        fn visit_type_impl_trait(&mut self, _: &'ast syn::TypeImplTrait) {
            self.0 = true;
        }
        fn visit_type_never(&mut self, _: &'ast syn::TypeNever) {
            self.0 = true;
        }
        fn visit_type_infer(&mut self, _: &'ast syn::TypeInfer) {
            self.0 = true;
        }
    }
    let mut nameless = Nameless(false);
    nameless.visit_type(ty);
    (!nameless.0).then(|| erased(ty))
}

/// Lists the secrets that are injected, beside those that the words list.
fn with_credentials(mut settings: Vec<(Field, Setting)>, injected: Vec<String>) -> Vec<(Field, Setting)> {
    const FIELD: Field = ("access", "credentials");
    let listed = settings.iter().position(|(field, _)| *field == FIELD).map(|index| settings.remove(index).1);
    let mut all = match listed {
        Some(Setting::Texts(names)) => names,
        _ => Vec::new(),
    };
    for name in injected {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    if !all.is_empty() {
        settings.push((FIELD, Setting::Texts(all)));
    }
    settings
}

fn policy(words: &PolicyWords, hidden: Vec<String>) -> Vec<(Field, Setting)> {
    let flags = [
        (("side_effects", "read_only"), words.read_only),
        (("side_effects", "writes_files"), words.writes_files),
        (("side_effects", "network"), words.network),
        (("side_effects", "installs_dependencies"), words.installs_dependencies),
        (("side_effects", "destructive"), words.destructive),
        (("side_effects", "external_service"), words.external_service),
        (("side_effects", "payment"), words.payment),
        (("side_effects", "process"), words.process),
        (("runtime", "idempotent"), words.idempotent),
        (("runtime", "streaming"), words.streaming),
        (("runtime", "cancelable"), words.cancelable),
        (("runtime", "return_direct"), words.return_direct),
        (("runtime", "polling"), words.polling),
        (("access", "approval_required"), words.approval_required),
        (("access", "background_safe"), words.background_safe),
    ];
    let texts = [
        (("access", "trusted_roots"), words.trusted_roots.0.clone()),
        (("access", "credentials"), words.credentials.0.clone()),
        (("", "redact"), words.redact.0.iter().cloned().chain(hidden).collect()),
    ];
    let concurrency = words.concurrency.as_ref().map(|count| Setting::Some(count.0.value.into()));
    let sandbox = words.sandbox.map(|mode| Setting::Variant("SandboxMode", mode.0));
    let workspace =
        words.workspace.as_ref().map(|access| Setting::Variant("WorkspaceAccess", access.0.value));
    let values = [
        (("runtime", "sandbox"), sandbox),
        (("runtime", "timeout_ms"), words.timeout.as_ref().map(|time| Setting::Some(time.0.value))),
        (("runtime", "max_retries"), words.retries.as_ref().map(|count| Setting::Count(count.0.value))),
        (("runtime", "max_result_bytes"), words.max_result_bytes.map(|size| Setting::Some(size.0))),
        (("runtime", "max_concurrency"), concurrency),
        (("runtime", "extra_args"), words.extra_args.map(|rule| Setting::SomeVariant("ExtraArgs", rule.0))),
        (("access", "workspace"), workspace),
    ];
    let flags = flags.into_iter().filter(|(_, flag)| flag.is_set()).map(|(field, _)| (field, Setting::True));
    let values = values.into_iter().filter_map(|(field, value)| Some((field, value?)));
    let texts = texts.into_iter().filter(|(_, list)| !list.is_empty());
    flags.chain(values).chain(texts.map(|(field, list)| (field, Setting::Texts(list)))).collect()
}
