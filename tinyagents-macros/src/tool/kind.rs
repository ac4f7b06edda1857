//! What a parameter's type says of how its value is made and passed.
//!
//! Guarantee: a borrowed parameter becomes the owned type that is read, and the way it is lent.
//!
//! Not here: whether the owned type can be read from JSON. Only the compiler knows that, and says so at the type
//! through the trait `ModelArg`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{GenericArgument, LitStr, PathArguments, PathSegment, Type, TypeReference};

use super::input::plain;
use crate::diag::Diag;

/// A parameter of the model: the owned type that is read, and how the function gets it.
pub(crate) struct Lent {
    /// What is read.
    pub(crate) owned: Owned,
    /// How it is passed.
    pub(crate) pass: Pass,
    /// Whether the type is spelt `Option`.
    pub(crate) optional: bool,
}

/// The owned type that is read from JSON.
#[derive(Clone)]
pub(crate) enum Owned {
    /// The type as written.
    Type(Type),
    /// The text behind a `&str`.
    Text(Span),
    /// The texts behind an `Option<&str>`.
    OptionalText(Span),
    /// The path behind a `&Path`.
    Path(Span),
    /// The elements behind a `&[T]`.
    Elements(Type),
    /// The elements behind an `Option<&[T]>`.
    OptionalElements(Type),
    /// The value behind an `Option<&T>`.
    Optional(Type),
}

/// How a value that was read is passed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pass {
    /// Moved.
    Move,
    /// `&value`.
    Borrow,
    /// `value.as_deref()`.
    Deref,
    /// `value.as_ref()`.
    AsRef,
}

impl Lent {
    /// Reads the type of a parameter that the model fills.
    pub(crate) fn read(ident: &Ident, ty: &Type, diag: &mut Diag) -> Option<Self> {
        if let Some(segment) = runtime_value(ty) {
            let name = &segment.ident;
            let key = if KEYED.contains(&name.to_string().as_str()) { "(\"NAME\")" } else { "" };
            let article = article(&name.to_string());
            let text = format!(
                "this looks like a runtime value: a model cannot choose {article} `{name}`; write `#[inject{key}]` \
                 before `{}`",
                plain(ident)
            );
            diag.at(name, text);
            return None;
        }
        let mut abstracts = Abstract { found: Vec::new() };
        abstracts.visit_type(ty);
        if !abstracts.found.is_empty() {
            abstracts.found.into_iter().for_each(|(tokens, text)| diag.at(tokens, text));
            return None;
        }
        let ty = ungrouped(ty);
        match ty {
            Type::Reference(reference) => Self::borrowed(reference, diag),
            _ => match optional(ty) {
                Some(Type::Reference(inner)) => {
                    exclusive(inner, diag)?;
                    let (owned, pass) = match ungrouped(&inner.elem) {
                        elem if is(elem, "str") => (Owned::OptionalText(elem.span()), Pass::Deref),
                        Type::Slice(slice) => (Owned::OptionalElements((*slice.elem).clone()), Pass::Deref),
                        elem => (Owned::Optional(elem.clone()), Pass::AsRef),
                    };
                    Some(Self { owned, pass, optional: true })
                }
                inner => {
                    Some(Self { owned: Owned::Type(ty.clone()), pass: Pass::Move, optional: inner.is_some() })
                }
            },
        }
    }

    fn borrowed(reference: &TypeReference, diag: &mut Diag) -> Option<Self> {
        exclusive(reference, diag)?;
        let owned = match ungrouped(&reference.elem) {
            elem if is(elem, "str") => Owned::Text(elem.span()),
            elem if is(elem, "Path") => Owned::Path(elem.span()),
            Type::Slice(slice) => Owned::Elements((*slice.elem).clone()),
            elem => Owned::Type(elem.clone()),
        };
        Some(Self { owned, pass: Pass::Borrow, optional: false })
    }
}

fn exclusive(reference: &TypeReference, diag: &mut Diag) -> Option<()> {
    let Some(word) = &reference.mutability else { return Some(()) };
    let text = "nothing outside the call would see the change; take the value itself, with `mut` before its name, \
                or lend it with `&`";
    diag.at(word, text);
    None
}

/// A parameter that the run fills.
pub(crate) struct Injected {
    pub(crate) source: Source,
    /// What the specification lists.
    pub(crate) kind: String,
    /// The attribute.
    pub(crate) span: Span,
    /// The type.
    pub(crate) place: Span,
}

/// Where an injected value comes from.
pub(crate) enum Source {
    /// A part of the state, borrowed.
    State(Type),
    /// The run's context, borrowed; `None` for the default data.
    Context(Option<Type>),
    /// Made for each call.
    Value(Type),
    /// Made for each call, and found by a key.
    Keyed(Type, LitStr),
}

impl Injected {
    /// Reads the type of a parameter with `#[inject]`.
    pub(crate) fn read(ty: &Type, span: Span, key: Option<LitStr>, diag: &mut Diag) -> Option<Self> {
        let ty = ungrouped(ty);
        if let (Type::Reference(_), Some(key)) = (ty, &key) {
            let text = "what is borrowed from the state is found by its type, not by a key; write `#[inject]`, or take \
                        the value without `&` if it is made for each call";
            diag.at(key, text);
            return None;
        }
        let Type::Reference(reference) = ty else {
            if let Type::ImplTrait(ty) = ty {
                diag.at(ty, "the run must know what to make; name a concrete type");
                return None;
            }
            // An optional value is of the kind of what it holds.
            let segment = last_segment(optional(ty).unwrap_or(ty));
            let kind = segment.map_or_else(
                || ty.to_token_stream().to_string().replace(' ', ""),
                |segment| plain(&segment.ident),
            );
            let Some(key) = key else {
                if let Some(segment) = segment.filter(|_| KEYED.contains(&kind.as_str())) {
                    let text = format!(
                        "a `{kind}` is found by its name; write the name into the attribute: `#[inject(\"NAME\")]`"
                    );
                    diag.at(&segment.ident, text);
                    return None;
                }
                return Some(Self { source: Source::Value(ty.clone()), kind, span, place: ty.span() });
            };
            if MADE.contains(&kind.as_str()) {
                diag.at(
                    key,
                    format!(
                        "{} `{kind}` is made for each call and takes no key; write `#[inject]`",
                        article(&kind)
                    ),
                );
                return None;
            }
            let kind = format!("{kind}({})", key.value());
            return Some(Self { source: Source::Keyed(ty.clone(), key), kind, span, place: ty.span() });
        };
        if let Some(word) = &reference.mutability {
            let text = "calls share the state, so a tool cannot borrow it mutably; take `&T` and keep what changes in a \
                        `Mutex` or an atomic";
            diag.at(word, text);
            return None;
        }
        let elem = ungrouped(&reference.elem);
        if let Some(segment) = last_segment(elem) {
            if segment.ident == "RunContext" {
                let source = Source::Context(first_argument(segment).cloned());
                return Some(Self { source, kind: "context".into(), span, place: elem.span() });
            }
            let name = segment.ident.to_string();
            if MADE.contains(&name.as_str()) {
                diag.at(
                    reference.and_token,
                    format!("a `{name}` is made for each call; write `{name}` without `&`"),
                );
                return None;
            }
        }
        Some(Self { source: Source::State(elem.clone()), kind: "state".into(), span, place: elem.span() })
    }
}

/// Types that the run makes for each call.
const MADE: &[&str] = &[
    "CancellationToken",
    "RunId",
    "ThreadId",
    "ToolCallId",
    "EventSink",
    "StoreRegistry",
    "Progress",
    "WorkspaceDescriptor",
    "ChildRuns",
    "IdempotencyKey",
];

fn article(name: &str) -> &'static str {
    if name.starts_with(['A', 'E', 'I', 'O', 'U']) { "an" } else { "a" }
}

/// Types whose values are found by a key.
const KEYED: &[&str] = &["Secret", "StoreHandle"];

/// Whether a type is spelt `Secret`.
pub(crate) fn is_secret(ty: &Type) -> bool {
    last_segment(ty).is_some_and(|segment| segment.ident == "Secret")
}

/// Where a type names `Secret`, however deep.
pub(crate) fn secrets(ty: &Type) -> Vec<Ident> {
    struct Found(Vec<Ident>);
    impl<'ast> Visit<'ast> for Found {
        fn visit_path_segment(&mut self, segment: &'ast PathSegment) {
            if segment.ident == "Secret" && !segment.arguments.is_empty() {
                self.0.push(segment.ident.clone());
            }
            syn::visit::visit_path_segment(self, segment);
        }
    }
    let mut found = Found(Vec::new());
    found.visit_type(ty);
    found.0
}

/// A type that no model can choose, found through references and `Option`.
fn runtime_value(ty: &Type) -> Option<&PathSegment> {
    match ungrouped(ty) {
        Type::Reference(reference) => runtime_value(&reference.elem),
        ty => match optional(ty) {
            Some(inner) => runtime_value(inner),
            None => last_segment(ty).filter(|segment| {
                let name = segment.ident.to_string();
                let generic = name == "Resource" && !segment.arguments.is_empty();
                MADE.contains(&name.as_str())
                    || KEYED.contains(&name.as_str())
                    || name == "RunContext"
                    || generic
            }),
        },
    }
}

/// Finds types that have no schema whatever they stand for.
struct Abstract {
    found: Vec<(TokenStream, &'static str)>,
}

impl<'ast> Visit<'ast> for Abstract {
    fn visit_type_impl_trait(&mut self, ty: &'ast syn::TypeImplTrait) {
        let text = "the model's schema needs one concrete type in place of `impl Trait`, such as `String` for \
                    `impl Into<String>`";
        self.found.push((ty.to_token_stream(), text));
    }

    fn visit_type_trait_object(&mut self, ty: &'ast syn::TypeTraitObject) {
        let text = "a trait object cannot be read from JSON; take a concrete type, or write `#[inject]` before the \
                    parameter if it is a part of the state";
        self.found.push((ty.to_token_stream(), text));
    }
}

/// Looks through the invisible group around a type that a `macro_rules!` passed on, and through parentheses.
pub(crate) fn ungrouped(mut ty: &Type) -> &Type {
    loop {
        ty = match ty {
            Type::Group(group) => &group.elem,
            Type::Paren(paren) => &paren.elem,
            other => return other,
        };
    }
}

pub(crate) fn last_segment(ty: &Type) -> Option<&PathSegment> {
    match ungrouped(ty) {
        Type::Path(path) if path.qself.is_none() => path.path.segments.last(),
        _ => None,
    }
}

pub(crate) fn first_argument(segment: &PathSegment) -> Option<&Type> {
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ungrouped(ty)),
        _ => None,
    })
}

/// The `T` of a type spelt `Option<T>`.
pub(crate) fn optional(ty: &Type) -> Option<&Type> {
    last_segment(ty).filter(|segment| segment.ident == "Option").and_then(first_argument)
}

fn is(ty: &Type, name: &str) -> bool {
    last_segment(ty).is_some_and(|segment| segment.ident == name && segment.arguments.is_empty())
}

impl Owned {
    /// The type as generated code writes it: in a constant, where every lifetime is `'static`.
    pub(crate) fn tokens(&self, private: &TokenStream) -> TokenStream {
        match self {
            Self::Type(ty) => erased(ty),
            Self::Text(_) => quote!(#private::String),
            Self::OptionalText(_) => quote!(#private::Option<#private::String>),
            Self::Path(_) => quote!(#private::PathBuf),
            Self::Elements(elem) => {
                let elem = erased(elem);
                quote!(#private::Vec<#elem>)
            }
            Self::OptionalElements(elem) => {
                let elem = erased(elem);
                quote!(#private::Option<#private::Vec<#elem>>)
            }
            Self::Optional(ty) => {
                let ty = erased(ty);
                quote!(#private::Option<#ty>)
            }
        }
    }

    /// Where the type begins and ends.
    pub(crate) fn ends(&self) -> (Span, Span) {
        match self {
            Self::Type(ty) | Self::Elements(ty) | Self::OptionalElements(ty) | Self::Optional(ty) => ends(ty),
            Self::Text(span) | Self::OptionalText(span) | Self::Path(span) => (*span, *span),
        }
    }
}

/// The places of the first and the last token: an error that spans both covers what is between.
pub(crate) fn ends(tokens: &impl ToTokens) -> (Span, Span) {
    let mut tokens = tokens.to_token_stream().into_iter();
    let first = tokens.next().map_or_else(Span::call_site, |token| token.span());
    (first, tokens.last().map_or(first, |token| token.span()))
}

/// The types of value and error in a return type spelt `Result<T, E>`.
pub(crate) fn result(ty: &Type) -> Option<(&Type, &Type)> {
    let segment = last_segment(ty).filter(|segment| segment.ident == "Result")?;
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
    match (arguments.args.first(), arguments.args.get(1)) {
        (Some(GenericArgument::Type(value)), Some(GenericArgument::Type(error))) => Some((value, error)),
        _ => None,
    }
}

/// Whether a type shows a lifetime other than `'static`.
pub(crate) fn borrows(ty: &Type) -> bool {
    struct Found(bool);
    impl<'ast> Visit<'ast> for Found {
        fn visit_lifetime(&mut self, lifetime: &'ast syn::Lifetime) {
            self.0 |= lifetime.ident != "static";
        }
        fn visit_type_reference(&mut self, reference: &'ast TypeReference) {
            self.0 |= reference.lifetime.is_none();
            syn::visit::visit_type_reference(self, reference);
        }
    }
    let mut found = Found(false);
    found.visit_type(ty);
    found.0
}

/// A type with `'static` for each of its lifetimes and for the references that leave theirs out.
pub(crate) fn erased(ty: &Type) -> TokenStream {
    lifetimes_erased(ty.to_token_stream())
}

fn lifetimes_erased(tokens: TokenStream) -> TokenStream {
    use proc_macro2::{Group, TokenTree};
    let mut out = TokenStream::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(tick) if tick.as_char() == '\'' => {
                let name = tokens.next();
                out.extend([TokenTree::Punct(tick)]);
                out.extend(name.map(|name| TokenTree::Ident(Ident::new("static", name.span()))));
            }
            TokenTree::Punct(and) if and.as_char() == '&' => {
                out.extend([TokenTree::Punct(and)]);
                if !matches!(tokens.peek(), Some(TokenTree::Punct(next)) if next.as_char() == '\'') {
                    out.extend(quote!('static));
                }
            }
            TokenTree::Group(group) => {
                let mut erased = Group::new(group.delimiter(), lifetimes_erased(group.stream()));
                erased.set_span(group.span());
                out.extend([TokenTree::Group(erased)]);
            }
            other => out.extend([other]),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    #[test]
    fn lifetimes_become_static() {
        let ty: Type = parse_quote!(Cow<'_, [&'a str; 2]>);
        assert_eq!(erased(&ty).to_string(), quote!(Cow<'static, [&'static str; 2]>).to_string());
        let ty: Type = parse_quote!((&str, Vec<&'a u8>));
        assert_eq!(erased(&ty).to_string(), quote!((&'static str, Vec<&'static u8>)).to_string());
    }

    #[test]
    fn runtime_values_are_found_where_they_hide() {
        for ty in
            [parse_quote!(CancellationToken), parse_quote!(Option<&ids::RunId>), parse_quote!(Secret<String>)]
        {
            assert!(runtime_value(&ty).is_some());
        }
        assert!(runtime_value(&parse_quote!(Vec<String>)).is_none());
    }
}
