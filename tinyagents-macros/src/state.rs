//! `#[derive(ToolState)]`: a state that provides each of its fields to tools.
//!
//! Guarantee: one `Provide` impl per field; a field that could not be told from another is refused.
//!
//! Not here: the state as a whole. Every type provides itself.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Field, Fields, Path};

use crate::diag::Diag;
use crate::krate::Krate;
use crate::words::{self, Flag, Grammar};
use darling::FromMeta;

const CONTAINER: Grammar = Grammar { attribute: "#[state]", words: &["crate"] };
const FIELD: Grammar = Grammar { attribute: "#[state]", words: &["skip"] };

/// Expands the derive.
pub(crate) fn expand(item: TokenStream) -> TokenStream {
    let input = match syn::parse2::<DeriveInput>(item) {
        Ok(input) => input,
        Err(error) => return error.to_compile_error(),
    };
    let mut diag = Diag::default();
    let path = container_path(&input.attrs, &mut diag);
    let krate = Krate::new(path.as_ref());
    let provided = match fields(&input) {
        Ok(fields) => provided(fields, &mut diag),
        Err(error) => {
            diag.push(error);
            Vec::new()
        }
    };
    let ident = &input.ident;
    let (generics, arguments, bounds) = input.generics.split_for_impl();
    let impls = provided.into_iter().map(|field| {
        let (name, ty) = (&field.ident, &field.ty);
        let cfg = field.attrs.iter().filter(|attr| attr.path().is_ident("cfg"));
        // At the field's type, so that a clash which only the compiler can see is reported there.
        let provide =
            quote_spanned!(ty.span().resolved_at(Span::call_site())=> #krate::__private::Provide<#ty>);
        quote! {
            #(#cfg)*
            #[automatically_derived]
            impl #generics #provide for #ident #arguments #bounds {
                fn provide(&self) -> &#ty {
                    &self.#name
                }
            }
        }
    });
    let impls: TokenStream = impls.collect();
    let errors = diag.into_tokens();
    quote!(#impls #errors)
}

fn fields(input: &DeriveInput) -> syn::Result<impl Iterator<Item = &Field>> {
    let text = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => return Ok(fields.named.iter()),
            Fields::Unnamed(_) => "the fields of a state need names; write `struct App { db: Db }`",
            Fields::Unit => {
                "a state without fields has nothing to provide; it provides itself without this derive"
            }
        },
        Data::Enum(_) => {
            "an enum provides nothing in some of its variants; derive `ToolState` on a struct that holds it"
        }
        Data::Union(_) => "a union cannot lend its fields safely; derive `ToolState` on a struct",
    };
    Err(syn::Error::new_spanned(&input.ident, text))
}

/// The fields to provide: not skipped, no two of one type.
fn provided<'a>(fields: impl Iterator<Item = &'a Field>, diag: &mut Diag) -> Vec<&'a Field> {
    let mut provided: Vec<&Field> = Vec::new();
    for field in fields {
        if is_skipped(field, diag) {
            continue;
        }
        let ty = field.ty.to_token_stream().to_string();
        let first = provided.iter().find(|other| other.ty.to_token_stream().to_string() == ty);
        if let Some(first) = first.and_then(|first| first.ident.as_ref()) {
            let text = format!(
                "`{first}` has this type too, so a tool that injects `&{ty}` could get either; put `#[state(skip)]` \
                 on one of them, or give it a type of its own"
            );
            diag.at(&field.ty, text);
        } else {
            provided.push(field);
        }
    }
    provided
}

fn is_skipped(field: &Field, diag: &mut Diag) -> bool {
    let words = words_of(&field.attrs, &FIELD, diag);
    let flags = words.iter().filter_map(|word| diag.keep(Flag::from_meta(word)));
    flags.filter(|flag| flag.is_set()).count() > 0
}

fn container_path(attrs: &[Attribute], diag: &mut Diag) -> Option<Path> {
    let words = words_of(attrs, &CONTAINER, diag);
    let word = words.first()?;
    diag.keep(words::crate_path(word))
}

fn words_of(attrs: &[Attribute], grammar: &Grammar, diag: &mut Diag) -> Vec<syn::Meta> {
    let mut tokens = TokenStream::new();
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("state")) {
        let more = words::of_attribute(&attr.meta, "state", diag);
        tokens.extend(quote!(#more,));
    }
    grammar.read(tokens, diag)
}
