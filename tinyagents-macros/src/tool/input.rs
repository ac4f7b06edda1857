//! The function as it was read: attribute, docs, signature, parameters.
//!
//! Guarantee: what one place alone can tell is reported here, and parameters that are reported are left out. The
//! body is kept as tokens: half-typed code still gives a tool.
//!
//! Not here: what needs two places at once (`check`).

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{
    Attribute, FnArg, GenericParam, Ident, LitStr, Meta, Pat, PatType, ReturnType, Signature, Type,
    Visibility,
};

use super::attr::{self, ArgWords};
use super::kind::{self, Injected, Lent};
use super::method::Method;
use super::name;
use crate::diag::Diag;
use crate::docs::Docs;
use crate::krate::Krate;
use crate::words;

/// A function with `#[tool]` on it.
pub(crate) struct Input {
    pub(crate) krate: Krate,
    pub(crate) attr: attr::Read,
    pub(crate) docs: Docs,
    /// The attributes that the generated type takes over: docs, `cfg`, `deprecated`.
    pub(crate) carried: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) ident: Ident,
    pub(crate) is_async: bool,
    pub(crate) params: Vec<Param>,
    /// The return type, unless it is `()`.
    pub(crate) output: Option<Type>,
    /// The function itself, without the attributes that only this crate understands.
    pub(crate) function: TokenStream,
    /// Whether the item stands in a block, of an impl, a trait or `extern`, where no other item may stand beside it.
    pub(crate) in_impl: bool,
    /// What a method of a block with `#[tools]` adds; then `function` is empty, since the block keeps it.
    pub(crate) method: Option<Method>,
}

impl Input {
    /// The name of the type to generate, unless the attribute gives another.
    pub(crate) fn type_ident(&self) -> Ident {
        match &self.method {
            Some(method) => method.type_ident(&self.ident),
            None => name::type_ident(&self.ident),
        }
    }
}

/// A parameter.
pub(crate) struct Param {
    pub(crate) ident: Ident,
    /// `#[cfg]` attributes.
    pub(crate) cfg: Vec<Attribute>,
    pub(crate) role: Role,
}

/// Who fills a parameter.
pub(crate) enum Role {
    /// The model.
    Model(Box<ModelParam>),
    /// The run.
    Run(Box<Injected>),
}

/// A parameter that the model fills.
pub(crate) struct ModelParam {
    pub(crate) words: ArgWords,
    pub(crate) docs: Docs,
    pub(crate) lent: Lent,
}

/// Reads attribute and item. `None` if the item is no function at all.
pub(crate) fn read(words: TokenStream, item: TokenStream, diag: &mut Diag) -> Option<Input> {
    let attr = attr::tool(words, diag);
    let parts = match parts.parse2(item.clone()) {
        Ok(parts) => parts,
        Err(_) => {
            let text = "`#[tool]` goes on a function: `async fn search(query: String) -> String { .. }`";
            diag.at_span(item_start(item), text);
            return None;
        }
    };
    Some(parts.read(attr, None, diag))
}

/// Reads a method of a block with `#[tools]`; `item` is the method without its body.
pub(crate) fn read_method(
    words: TokenStream,
    item: TokenStream,
    method: Method,
    diag: &mut Diag,
) -> Option<Input> {
    let attr = attr::tool(words, diag);
    let parts = diag.keep(parts.parse2(item))?;
    Some(parts.read(attr, Some(method), diag))
}

/// Where an item begins, after its attributes.
pub(crate) fn item_start(item: TokenStream) -> Span {
    let parser = |input: ParseStream<'_>| {
        Attribute::parse_outer(input)?;
        let start = input.span();
        input.parse::<TokenStream>()?;
        Ok(start)
    };
    parser.parse2(item).unwrap_or_else(|_| Span::call_site())
}

/// A function, its body unread.
struct Parts {
    attrs: Vec<Attribute>,
    vis: Visibility,
    sig: Signature,
    body: TokenStream,
}

fn parts(input: ParseStream<'_>) -> syn::Result<Parts> {
    Ok(Parts {
        attrs: Attribute::parse_outer(input)?,
        vis: input.parse()?,
        sig: input.parse()?,
        body: input.parse()?,
    })
}

impl Parts {
    fn read(mut self, attr: attr::Read, method: Option<Method>, diag: &mut Diag) -> Input {
        check_signature(&self.sig, diag);
        // In a trait the receiver says more than the missing body does.
        let elsewhere = is_semicolon(&self.body);
        if elsewhere && self.sig.receiver().is_none() {
            let text = "a tool needs a body; write a function here that calls this one";
            diag.at(&self.sig.ident, text);
        }
        let params =
            self.sig.inputs.iter().filter_map(|input| param(input, method.is_some(), diag)).collect();
        for input in &mut self.sig.inputs {
            let attrs = match input {
                FnArg::Receiver(receiver) => &mut receiver.attrs,
                FnArg::Typed(typed) => &mut typed.attrs,
            };
            attrs.retain(|attr| !is_ours(attr));
        }
        let Self { attrs, vis, sig, body } = self;
        let carried = ["doc", "cfg", "deprecated"];
        let output = match &sig.output {
            ReturnType::Default => None,
            ReturnType::Type(_, output) => match kind::ungrouped(output) {
                Type::Tuple(tuple) if tuple.elems.is_empty() => None,
                output => Some(output.clone()),
            },
        };
        for secret in output.iter().flat_map(kind::secrets) {
            let text =
                "what a tool returns reaches the model, and a secret must not; return what was done with it";
            diag.at(secret, text);
        }
        Input {
            krate: Krate::new(attr.words.krate.as_ref().map(|path| &path.0)),
            attr,
            docs: Docs::read(&attrs),
            carried: attrs
                .iter()
                .filter(|attr| carried.iter().any(|name| attr.path().is_ident(name)))
                .cloned()
                .collect(),
            function: if method.is_some() { TokenStream::new() } else { quote!(#(#attrs)* #vis #sig #body) },
            vis,
            ident: sig.ident.clone(),
            is_async: sig.asyncness.is_some(),
            in_impl: method.is_none() && (sig.receiver().is_some() || elsewhere),
            method,
            params,
            output,
        }
    }
}

/// Whether the function is only declared here.
fn is_semicolon(body: &TokenStream) -> bool {
    let mut tokens = body.clone().into_iter();
    matches!((tokens.next(), tokens.next()), (Some(TokenTree::Punct(end)), None) if end.as_char() == ';')
}

/// Attributes on a parameter that mean nothing to the compiler: ours, those refused, and docs.
pub(crate) fn is_ours(attr: &Attribute) -> bool {
    ["arg", "inject", "doc", "serde", "schemars"].iter().any(|name| attr.path().is_ident(name))
}

fn check_signature(sig: &Signature, diag: &mut Diag) {
    if let Some(word) = &sig.constness {
        diag.at(word, "a tool runs when a model calls it, so it cannot be a `const fn`; remove `const`");
    }
    if let Some(word) = &sig.unsafety {
        let text = "a model cannot uphold the promises of an `unsafe fn`; make the function safe and put the `unsafe` \
                    block, with its checks, inside";
        diag.at(word, text);
    }
    if let Some(abi) = &sig.abi {
        diag.at(abi, "a tool is called by the harness, not over an ABI; remove `extern`");
    }
    if let Some(dots) = &sig.variadic {
        diag.at(dots, "the model's schema lists every parameter; take a `Vec<T>` in place of `...`");
    }
    for param in &sig.generics.params {
        let (unknown, concrete) = match param {
            GenericParam::Lifetime(_) => continue,
            GenericParam::Type(param) => (format!("schema of `{}`", param.ident), "type"),
            GenericParam::Const(param) => (format!("value of `{}`", param.ident), "value"),
        };
        let text = format!(
            "generic tools are not supported: the {unknown} must be known here; write a concrete {concrete}, or one \
             small tool function for each that calls a generic function"
        );
        diag.at(param, text);
    }
}

fn param(input: &FnArg, in_tools: bool, diag: &mut Diag) -> Option<Param> {
    match input {
        // `Method` has read it.
        FnArg::Receiver(_) if in_tools => None,
        FnArg::Receiver(receiver) => {
            let text = "a tool that is a method needs `#[tools]` on its impl block, above `impl`, which makes a set of \
                        all tools of the block";
            diag.at(receiver.self_token, text);
            None
        }
        FnArg::Typed(typed) => typed_param(typed, diag),
    }
}

fn typed_param(typed: &PatType, diag: &mut Diag) -> Option<Param> {
    let ident = name(&typed.pat, diag);
    let (words, inject) = attributes(&typed.attrs, diag);
    let ident = ident?;
    let cfg: Vec<_> = typed.attrs.iter().filter(|attr| attr.path().is_ident("cfg")).cloned().collect();
    let role = if let Some(inject) = inject {
        if let Some((span, _)) = words {
            let text = "`#[arg]` describes a value that the model chooses, and `#[inject]` hides this one from it; \
                        keep one of the two";
            diag.at_span(span, text);
            return None;
        }
        if let Some(cfg) = cfg.first() {
            let text = "an injected parameter cannot be conditional: the compiler takes no `#[cfg]` on the bounds it \
                        needs; put `#[cfg]` on two versions of the function";
            diag.at(cfg, text);
            return None;
        }
        Role::Run(Box::new(Injected::read(&typed.ty, inject.span, inject.key.ok()?, diag)?))
    } else {
        let lent = Lent::read(&ident, &typed.ty, diag)?;
        let words = words.map(|(_, words)| words).unwrap_or_default();
        Role::Model(Box::new(ModelParam { words, docs: Docs::read(&typed.attrs), lent }))
    };
    Some(Param { ident, cfg, role })
}

fn name(pat: &Pat, diag: &mut Diag) -> Option<Ident> {
    match pat {
        Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => Some(pat.ident.clone()),
        Pat::Wild(pat) => {
            diag.at(
                pat,
                "a parameter's name is what the model reads; give this one a name, such as `_unused`",
            );
            None
        }
        other => {
            let text = "a parameter's name is what the model reads; write a plain name here and take the value apart \
                        in the body";
            diag.at(other, text);
            None
        }
    }
}

type Words = Option<(Span, ArgWords)>;

/// `#[inject]` as it was written.
struct Attached {
    span: Span,
    /// The key, if any; `Err` if it was reported.
    key: Result<Option<LitStr>, ()>,
}

/// The key of `#[inject("key")]`.
fn key(meta: &Meta, diag: &mut Diag) -> Result<Option<LitStr>, ()> {
    let Meta::List(list) = meta else {
        let Meta::NameValue(pair) = meta else { return Ok(None) };
        diag.at(&pair.value, "a key stands in parentheses: `#[inject(\"NAME\")]`");
        return Err(());
    };
    if list.tokens.is_empty() {
        diag.at(meta, "there is no key in the parentheses; write `#[inject]`, or `#[inject(\"NAME\")]`");
        return Err(());
    }
    match syn::parse2::<LitStr>(list.tokens.clone()) {
        Ok(key) if key.value().trim() != key.value() || key.value().is_empty() => {
            diag.at(
                key,
                "this key is the name of nothing; write it without spaces around it: `#[inject(\"NAME\")]`",
            );
            Err(())
        }
        Ok(key) => Ok(Some(key)),
        Err(_) => {
            let name = list.tokens.to_string();
            let name = name.chars().all(|c| c.is_alphanumeric() || c == '_').then_some(name);
            let name = name.unwrap_or_else(|| "NAME".into());
            diag.at(&list.tokens, format!("a key is one text, known here: write `#[inject(\"{name}\")]`"));
            Err(())
        }
    }
}

fn attributes(attrs: &[Attribute], diag: &mut Diag) -> (Words, Option<Attached>) {
    let mut args: Option<(Span, TokenStream)> = None;
    let mut inject = None;
    for attr in attrs {
        let path = attr.path();
        let span = path.span();
        if path.is_ident("arg") {
            let more = words::of_attribute(&attr.meta, "arg", diag);
            args = Some(match args {
                // Two `#[arg]` are as one with all their words, so that a doubled word is noticed.
                Some((first, words)) => (first, quote!(#words, #more)),
                None => (span, more),
            });
        } else if path.is_ident("inject") {
            if inject.replace(Attached { span, key: key(&attr.meta, diag) }).is_some() {
                diag.at(path, "`#[inject]` stands here twice; keep one of them");
            }
        } else if path.is_ident("serde") || path.is_ident("schemars") {
            diag.at(path, foreign(&path.to_token_stream().to_string(), &attr.meta));
        }
    }
    (args.map(|(span, tokens)| (span, attr::arg(tokens, diag))), inject)
}

/// The way out of an attribute that nothing would read.
fn foreign(attribute: &str, meta: &Meta) -> String {
    let words = match meta {
        Meta::List(list) => list.tokens.to_string(),
        _ => String::new(),
    };
    let first = words.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default();
    let way_out = match first {
        "default" => "`#[arg(default)]`, or `#[arg(default = VALUE)]`,",
        "rename" => "`#[arg(name = \"..\")]`",
        "description" | "title" => "a doc comment, or `#[arg(description = \"..\")]`,",
        _ => {
            "a type that derives its own schema, or an `#[arg(..)]` word (`name`, `description`, `default`),"
        }
    };
    format!("no derive reads `#[{attribute}]` on a parameter; use {way_out} instead")
}

/// A parameter's name as Rust code refers to it, without `r#`.
pub(crate) fn plain(ident: &Ident) -> String {
    ident.unraw().to_string()
}
