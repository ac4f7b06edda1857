//! `toolset![..]`: an expression that builds a set, and constants that compare the names in it.
//!
//! Guarantee: two tools of one name do not compile, if both are given by the types that `#[tool]` wrote; the error
//! stands at the second.
//!
//! Not here: the names of tools that come from expressions, which a registry compares.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprPath, Token, bracketed};

use crate::diag::Diag;

/// An entry: `#[cfg(..)] Search`.
struct Entry {
    cfg: Vec<Attribute>,
    value: Expr,
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        Ok(Self { cfg: Attribute::parse_outer(input)?, value: input.parse()? })
    }
}

/// Expands the macro; the path of the crate stands in brackets before the entries.
pub(crate) fn expand(tokens: TokenStream) -> TokenStream {
    let mut krate = TokenStream::new();
    let parser = |input: ParseStream<'_>| {
        let path;
        bracketed!(path in input);
        krate = path.parse()?;
        Punctuated::<Entry, Token![,]>::parse_terminated(input)
    };
    let entries = match parser.parse2(tokens) {
        Ok(entries) => entries,
        Err(error) => {
            let text =
                format!("{error}; write tools and sets with commas between them: `toolset![Search, Fetch]`");
            let error = syn::Error::new(error.span(), text).to_compile_error();
            return quote!({ #error #krate::__private::Toolset::new() });
        }
    };
    let mut diag = Diag::default();
    for cfg in entries.iter().flat_map(|entry| &entry.cfg).filter(|attr| !attr.path().is_ident("cfg")) {
        diag.at(cfg, "an entry takes no attribute but `#[cfg(..)]`; remove this one");
    }
    let twice = doubled(&entries, &mut diag);
    let set = Ident::new("set", Span::mixed_site());
    let steps = entries.iter().map(|entry| step(&krate, &set, entry));
    // Names are not compared again where the same path stands twice.
    let names = (!twice).then(|| names(&krate, &entries));
    let errors = diag.into_tokens();
    quote!({
        #errors
        #names
        let #set = #krate::__private::Toolset::new();
        #(#steps)*
        #set
    })
}

fn step(krate: &TokenStream, set: &Ident, entry: &Entry) -> TokenStream {
    let Entry { value, .. } = entry;
    let cfg = entry.cfg.iter().filter(|attr| attr.path().is_ident("cfg"));
    // A tool's type says by itself what is wrong with it; anything else may be a set.
    match of_type(value) {
        Some(_) => quote!(#(#cfg)* let #set = #set.with(#value);),
        None => quote!(#(#cfg)* let #set = #krate::__private::ToolsetEntry::add_to(#value, #set);),
    }
}

/// The same path twice: told without the help of the compiler.
fn doubled(entries: &Punctuated<Entry, Token![,]>, diag: &mut Diag) -> bool {
    let mut seen: Vec<String> = Vec::new();
    let mut found = false;
    for entry in entries.iter().filter(|entry| entry.cfg.is_empty()) {
        let Some(path) = of_type(&entry.value) else { continue };
        let text = path.to_token_stream().to_string();
        if seen.contains(&text) {
            let shown = text.replace(' ', "");
            diag.at(
                path,
                format!(
                    "`{shown}` stands in this set already, and a model calls a tool by its name; remove one"
                ),
            );
            found = true;
        }
        seen.push(text);
    }
    found
}

/// A constant per entry that does not evaluate if its name was there before.
fn names(krate: &TokenStream, entries: &Punctuated<Entry, Token![,]>) -> TokenStream {
    let typed: Vec<_> = entries.iter().filter_map(|entry| Some((entry, of_type(&entry.value)?))).collect();
    if typed.len() < 2 {
        return TokenStream::new();
    }
    let list = typed.iter().map(|(entry, path)| {
        let cfg = &entry.cfg;
        let conditions = cfg.iter().filter_map(|attr| attr.meta.require_list().ok()).map(|list| &list.tokens);
        // So that every entry has its place, whatever is left out.
        let absent = (!cfg.is_empty()).then(|| quote!(, #[cfg(not(all(#(#conditions),*)))] ""));
        quote!(#(#cfg)* #path::NAME #absent)
    });
    let checks = typed.iter().enumerate().skip(1).map(|(index, (entry, path))| {
        let cfg = &entry.cfg;
        let shown = path.to_token_stream().to_string().replace(' ', "");
        let text = format!(
            "another tool in this set has the same name as `{shown}`, and a model calls a tool by its name; remove one, or \
             write another `name = \"..\"` in its `#[tool(..)]`"
        );
        let assert = quote_spanned!(path.span().resolved_at(Span::call_site())=> ::core::assert!(#krate::__private::is_first(__NAMES, #index), #text));
        quote!(#(#cfg)* const _: () = #assert;)
    });
    quote! {
        #[allow(deprecated)]
        const _: () = {
            #[allow(unused_imports)]
            use #krate::__private::Unnamed as _;

            const __NAMES: &[&str] = &[#(#list),*];
            #(#checks)*
        };
    }
}

/// The type of an entry that is written as one: `Search`, or `GitHubIssues(client)`. Constants and functions are
/// told by their spelling.
fn of_type(value: &Expr) -> Option<&ExprPath> {
    let path = match crate::words::ungrouped(value) {
        Expr::Path(path) => path,
        Expr::Call(call) => match crate::words::ungrouped(&call.func) {
            Expr::Path(path) => path,
            _ => return None,
        },
        _ => return None,
    };
    let name = path.path.segments.last()?.ident.unraw().to_string();
    (name.starts_with(char::is_uppercase) && !name.contains('_')).then_some(path)
}
