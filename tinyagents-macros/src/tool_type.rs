//! `#[tool_type]`: a struct or an enum that tools take and give back.
//!
//! Guarantee: serde's two traits and schemars' one, through this crate's copies, so that a user needs neither in
//! `Cargo.toml`; an object takes no unknown key, as far as serde can refuse one.
//!
//! Not here: what serde and schemars make of their own attributes, which go on working.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Attribute, Data, DeriveInput, Field, Fields, Meta, Path, Token};

use crate::diag::Diag;
use crate::krate::Krate;
use crate::words::{self, Grammar};

const GRAMMAR: Grammar = Grammar { attribute: "#[tool_type]", words: &["crate"] };

/// Expands the attribute.
pub(crate) fn expand(tokens: TokenStream, item: TokenStream) -> TokenStream {
    let mut diag = Diag::default();
    let path = GRAMMAR.read(tokens, &mut diag);
    let path = path.first().and_then(|word| diag.keep(words::crate_path(word)));
    let krate = Krate::new(path.as_ref());
    let mut input = match syn::parse2::<DeriveInput>(item.clone()) {
        Ok(input) if !matches!(input.data, Data::Union(_)) => input,
        Ok(input) => {
            diag.at(&input.ident, "a union cannot be read from JSON; write an enum");
            return item.into_iter().chain(diag.into_tokens()).collect();
        }
        Err(_) => {
            let text = "`#[tool_type]` goes on a struct or an enum: `struct Range { from: u32, to: u32 }`";
            diag.at_span(crate::tool::item_start(item.clone()), text);
            return item.into_iter().chain(diag.into_tokens()).collect();
        }
    };
    derives(&mut input.attrs, &mut diag);
    let [serde, schemars] = paths(&krate, &input.attrs, &mut diag);
    let closes = can_close(&input).then(|| quote!(deny_unknown_fields,));
    let p = quote!(#krate::__private);
    let errors = diag.into_tokens();
    quote! {
        #[derive(#p::serde::Serialize, #p::serde::Deserialize, #p::schemars::JsonSchema)]
        #[serde(#closes #serde)]
        #[schemars(#schemars)]
        #input

        #errors
    }
}

/// Takes off the derives that would stand there twice.
fn derives(attrs: &mut [Attribute], diag: &mut Diag) {
    for attr in attrs.iter_mut().filter(|attr| attr.path().is_ident("derive")) {
        let Meta::List(list) = &mut attr.meta else { continue };
        let parser = Punctuated::<Path, Token![,]>::parse_terminated;
        let Ok(paths) = parser.parse2(list.tokens.clone()) else { continue };
        let kept = paths.into_iter().filter(|path| {
            let name = path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
            let ours = ["Serialize", "Deserialize", "JsonSchema"].contains(&name.as_str());
            if ours {
                diag.at(path, format!("`#[tool_type]` derives `{name}` too; remove it here"));
            }
            !ours
        });
        let kept: Punctuated<Path, Token![,]> = kept.collect();
        list.tokens = kept.into_token_stream();
    }
}

/// The words that say where the two crates are. A user's own would contradict them; then they are left out.
fn paths(krate: &Krate, attrs: &[Attribute], diag: &mut Diag) -> [Option<TokenStream>; 2] {
    ["serde", "schemars"].map(|name| {
        if let Some((_, word)) = words_of(attrs).into_iter().find(|(of, word)| *of == name && word == "crate") {
            let text = format!(
                "`#[tool_type]` writes `#[{name}(crate = ..)]` itself; remove it here, and if the crate has another path \
                 write `#[tool_type(crate = path::to::tinyagents)]`"
            );
            diag.at(word, text);
            return None;
        }
        let path = format!("{}::__private::{name}", krate.to_token_stream()).replace(' ', "");
        Some(quote!(crate = #path))
    })
}

/// Whether serde can refuse unknown keys: not where a flattened field takes them, and not where another type is read.
fn can_close(input: &DeriveInput) -> bool {
    let of_container =
        ["deny_unknown_fields", "transparent", "from", "try_from"].iter().any(|word| has(&input.attrs, word));
    let named = |fields: &Fields| matches!(fields, Fields::Named(_));
    let (fields, closable): (Vec<&Field>, bool) = match &input.data {
        Data::Struct(data) => (data.fields.iter().collect(), named(&data.fields)),
        Data::Enum(data) => (data.variants.iter().flat_map(|variant| &variant.fields).collect(), true),
        Data::Union(_) => (Vec::new(), false),
    };
    closable && !of_container && !fields.iter().any(|field| has(&field.attrs, "flatten"))
}

fn has(attrs: &[Attribute], word: &str) -> bool {
    words_of(attrs).iter().any(|(_, other)| other == word)
}

/// The words of `#[serde(..)]` and `#[schemars(..)]`, without their values.
fn words_of(attrs: &[Attribute]) -> Vec<(&'static str, Ident)> {
    let mut words = Vec::new();
    for attr in attrs {
        let names = ["serde", "schemars"];
        let Some(name) = names.into_iter().find(|name| attr.path().is_ident(name)) else { continue };
        let Meta::List(list) = &attr.meta else { continue };
        let parser = |input: ParseStream<'_>| {
            while !input.is_empty() {
                // `crate` is a keyword, which `syn` takes for no word.
                words.push((name, input.call(Ident::parse_any)?));
                while !input.is_empty() && !input.peek(Token![,]) {
                    input.parse::<TokenTree>()?;
                }
                input.parse::<Option<Token![,]>>()?;
            }
            Ok(())
        };
        // What cannot be read is serde's to report.
        let _ = parser.parse2(list.tokens.clone());
    }
    words
}
