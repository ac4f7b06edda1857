//! What needs two places at once: words that contradict each other, names that clash, docs that drifted.
//!
//! Guarantee: reports everything it finds; what passes can be lowered without another question.
//!
//! Not here: what only the compiler knows (types), which the generated code's bounds ask.

use proc_macro2::Span;

use super::attr::PolicyWords;
use super::input::{Input, ModelParam, Param, Role, plain};
use super::kind::Source;
use super::limits;
use super::name;
use super::values::Format;
use crate::diag::Diag;
use crate::words::nearest;

const MAX_DESCRIPTION: usize = 1024;

/// Reports what is wrong with a function that was read.
pub(crate) fn check(input: &Input, diag: &mut Diag) {
    names(input, diag);
    description(input, diag);
    documented_arguments(input, diag);
    parameters(input, diag);
    contexts(input, diag);
    if input.attr.whole {
        policy(input, diag);
    }
}

/// The name by which the model calls the tool, and where it is written.
pub(crate) fn tool_name(input: &Input) -> (String, Span) {
    match &input.attr.words.name {
        Some(name) => (name.0.value(), name.0.span()),
        None => (plain(&input.ident), input.ident.span()),
    }
}

fn names(input: &Input, diag: &mut Diag) {
    let (name, span) = tool_name(input);
    if let Some(text) = name::tool_mistake(&name) {
        diag.at_span(span, text);
    }
    let ty = input.type_ident();
    if let (None, Some(better)) = (&input.attr.words.type_name, name::beside_prelude(&ty)) {
        let text = format!(
            "the type generated for this tool would hide the standard `{ty}` in this module; write `type = {better}` in \
             `#[tool(..)]`"
        );
        diag.at(&input.ident, text);
    }
}

fn description(input: &Input, diag: &mut Diag) {
    let (text, span) = match &input.attr.words.description {
        Some(text) => (text.0.value(), text.0.span()),
        None => (input.docs.description.clone(), input.ident.span()),
    };
    let function = plain(&input.ident);
    let length = text.chars().count();
    if length > MAX_DESCRIPTION {
        let text = format!(
            "this tool's description has {length} characters, and providers accept at most {MAX_DESCRIPTION}; shorten \
             it, or put what only people need below a heading such as `# Details`"
        );
        diag.at_span(span, text);
    } else if let (true, Some(span)) = (text.trim().is_empty(), input.docs.unreadable) {
        let text = "a macro cannot read a computed doc comment; write the tool's description as \
                    `#[tool(description = \"..\")]`";
        diag.at_span(span, text);
    } else if text.trim().is_empty() && (!input.attr.may_describe || input.attr.whole) {
        let text = format!(
            "the tool `{function}` has no description, and a model chooses tools by it; write what it does in a doc \
             comment above the function: `/// ...`"
        );
        diag.at_span(span, text);
    }
}

fn documented_arguments(input: &Input, diag: &mut Diag) {
    let known: Vec<_> = input.params.iter().map(|param| plain(&param.ident)).collect();
    let known: Vec<_> = known.iter().map(String::as_str).collect();
    for line in &input.docs.arguments {
        if known.contains(&line.name.as_str()) {
            continue;
        }
        let way_out = match nearest(&line.name, &known) {
            Some(near) => format!("did you mean `{near}`?"),
            None if known.is_empty() => "it has no parameters; remove the line".into(),
            None => format!("it has: {}", known.join(", ")),
        };
        let function = plain(&input.ident);
        let name = &line.name;
        diag.at_span(
            line.span,
            format!("`# Arguments` names `{name}`, which `{function}` does not take; {way_out}"),
        );
    }
}

fn parameters(input: &Input, diag: &mut Diag) {
    let mut seen: Vec<(String, &Param)> = Vec::new();
    let mut optional: Option<String> = None;
    let mut others: Vec<(String, Span, &Param)> = Vec::new();
    for param in &input.params {
        let (name, span) = match &param.role {
            Role::Model(model) => {
                let (name, span) = wire_name(param, model);
                if let Some(text) = name::parameter_mistake(&name) {
                    diag.at_span(span, text);
                }
                credential(model, &name, span, diag);
                limits::check(&model.words, model.lent.owned.shape(), diag);
                flattened(input, model, diag);
                positions(input, model, &name, span, &mut optional, diag);
                for alias in &model.words.alias.0 {
                    let other = alias.value();
                    if let Some(text) = name::parameter_mistake(&other) {
                        diag.at(alias, text);
                    }
                    credential(model, &other, alias.span(), diag);
                    if other == name {
                        diag.at(alias, format!("`{name}` is the parameter's own name; remove this `alias`"));
                    } else {
                        others.push((other, alias.span(), param));
                    }
                }
                (name, span)
            }
            Role::Run(injected) => {
                if injected.kind == "ChildRuns"
                    && input.attr.words.recursive.span().is_none()
                    && input.attr.whole
                {
                    let text = "`ChildRuns` starts nested runs, which only a recursive tool may do; add `recursive` to \
                                `#[tool(..)]`";
                    diag.at_span(injected.place, text);
                }
                (plain(&param.ident), injected.span)
            }
        };
        // Two equal identifiers are the compiler's own error.
        if seen
            .iter()
            .any(|(other, first)| *other == name && first.ident != param.ident && param.cfg.is_empty())
        {
            let text = format!(
                "two parameters are named `{name}`; give one of them another `#[arg(name = \"..\")]`"
            );
            diag.at_span(span, text);
        }
        seen.push((name, param));
    }
    for (index, (alias, span, param)) in others.iter().enumerate() {
        let of_other = seen.iter().any(|(name, other)| name == alias && other.ident != param.ident);
        let again = others.iter().take(index).any(|(other, ..)| other == alias);
        if (of_other || again) && param.cfg.is_empty() {
            let text = format!(
                "`{alias}` is the name of another parameter too, so a value could be for either; \
                                write another `alias`, or remove it"
            );
            diag.at_span(*span, text);
        }
    }
}

fn credential(model: &ModelParam, name: &str, span: Span, diag: &mut Diag) {
    if !model.words.not_secret.is_set() && name::is_credential(name) {
        let text = format!(
            "`{name}` looks like a credential, which a model must neither see nor choose; let the run give it with \
             `#[inject(\"{key}\")] {name}: Secret<String>`, name the parameter for what it is, or write \
             `#[arg(not_secret)]` if it is no secret",
            key = name.to_uppercase()
        );
        diag.at_span(span, text);
    }
}

fn flattened(input: &Input, model: &ModelParam, diag: &mut Diag) {
    let Some(flatten) = model.words.flatten.span() else { return };
    for (word, span) in &model.words.given {
        if word != "flatten" && word != "not_secret" {
            let text = format!(
                "`flatten` shows the struct's fields as parameters, so `{word}` has none to describe; say it of the \
                 fields, in the struct, or remove one of the two"
            );
            diag.at_span(*span, text);
        }
    }
    if input.attr.words.format == Format::PType {
        let text = "`format = \"ptype\"` tells parameters by position, and `flatten` hides how many there are; write \
                    the struct's fields as parameters, or use another format";
        diag.at_span(flatten, text);
    }
}

/// In p-type calls an argument's position is its name, so nothing in the middle can be left out.
fn positions(
    input: &Input,
    model: &ModelParam,
    name: &str,
    span: Span,
    optional: &mut Option<String>,
    diag: &mut Diag,
) {
    if input.attr.words.format != Format::PType {
        return;
    }
    if model.lent.optional || model.words.default.is_some() {
        optional.get_or_insert_with(|| name.to_owned());
    } else if let Some(first) = optional {
        let text = format!(
            "`{name}` is required but stands after the optional `{first}`, and with `format = \"ptype\"` only the last \
             parameters can be left out; move `{name}` before `{first}`"
        );
        diag.at_span(span, text);
    }
}

/// The name the model uses, and where it is written.
pub(crate) fn wire_name(param: &Param, model: &ModelParam) -> (String, Span) {
    match &model.words.name {
        Some(name) => (name.0.value(), name.0.span()),
        None => (plain(&param.ident), param.ident.span()),
    }
}

fn contexts(input: &Input, diag: &mut Diag) {
    let mut first = None;
    for param in &input.params {
        let Role::Run(injected) = &param.role else { continue };
        let Source::Context(data) = &injected.source else { continue };
        match &first {
            None => first = Some(data),
            Some(other) if *other == data => {}
            Some(_) => {
                diag.at(
                    &param.ident,
                    "a run has one context; inject `&RunContext<..>` with one type of data",
                );
            }
        }
    }
}

fn policy(input: &Input, diag: &mut Diag) {
    let words = &input.attr.words.policy;
    if words.read_only.is_set() {
        for (name, span) in writing_effects(words) {
            let text = format!(
                "`{name}` changes the world, and `read_only` says that nothing does; remove one of the two"
            );
            diag.at_span(span, text);
        }
    }
    if let Some(retries) = &words.retries {
        if retries.0.value > 0 && !words.idempotent.is_set() && !words.read_only.is_set() {
            let text = "a retry repeats the call's effects; add `idempotent` if calling twice is as calling once, or \
                        `read_only`, or remove `retries`";
            diag.at_span(retries.0.span, text);
        }
    }
    if let Some(zero) = words.concurrency.as_ref().filter(|count| count.0.value == 0) {
        let text = "with a concurrency of zero no call could ever run; write `concurrency = 1` for one at a time, or \
                    leave it out for no bound";
        diag.at_span(zero.0.span, text);
    }
    if let Some(inline) = input.attr.words.inline.span() {
        if input.is_async {
            let text = "`inline` lets a plain `fn` run on the harness's own thread; an `async fn` does anyway, so remove \
                        `inline`";
            diag.at_span(inline, text);
        } else if let Some(timeout) = &words.timeout {
            let text = "nothing can interrupt an `inline` tool, so its timeout would never be kept; remove `inline` or \
                        `timeout`";
            diag.at_span(timeout.0.span, text);
        }
    }
    if let (Some(sandbox), Some(workspace)) = (words.sandbox, &words.workspace) {
        if sandbox.0 == "Required" && workspace.0.value == "Any" {
            let text = "a sandboxed tool cannot reach everything the process can; write `workspace = \"scoped\"` with \
                        `trusted_roots(..)`, or another `sandbox`";
            diag.at_span(workspace.0.span, text);
        }
    }
}

fn writing_effects(words: &PolicyWords) -> impl Iterator<Item = (&'static str, Span)> {
    let effects = [
        ("writes_files", words.writes_files),
        ("installs_dependencies", words.installs_dependencies),
        ("destructive", words.destructive),
        ("external_service", words.external_service),
        ("payment", words.payment),
        ("process", words.process),
    ];
    effects.into_iter().filter_map(|(name, flag)| flag.span().map(|span| (name, span)))
}
