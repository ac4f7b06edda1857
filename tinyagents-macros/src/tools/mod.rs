//! `#[tools]`: the tool methods of an impl block, and a function that gives them as a set.
//!
//! Guarantee: the block stays as it is but for this crate's attributes; every tool in it is in the set, or the block
//! does not compile.
//!
//! Not here: what one tool becomes, which is as for a function (`tool`).

mod item;
mod set;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{ParseStream, Parser};
use syn::{ItemImpl, Path, PathArguments, Token, Type, TypePath, Visibility};

use crate::diag::Diag;
use crate::tool;
use item::{BlockTool, Item};

/// Expands the attribute.
pub(crate) fn expand(words: TokenStream, item: TokenStream) -> TokenStream {
    let mut diag = Diag::default();
    let words = Words::read(words, &mut diag);
    let Some((head, items)) = item::block(item.clone()) else {
        let text = "`#[tools]` goes on an impl block with tool methods: `impl GitHub { #[tool] async fn issues(&self) .. }`";
        diag.at_span(tool::item_start(item.clone()), text);
        return item.into_iter().chain(diag.into_tokens()).collect();
    };
    let owner = owner(&head, &mut diag);
    let items = diag.keep(item::parsed.parse2(items)).unwrap_or_default();
    let block_cfg: Vec<_> = head.attrs.iter().filter(|attr| attr.path().is_ident("cfg")).cloned().collect();
    let mut kept = TokenStream::new();
    let mut tools = Vec::new();
    for item in items {
        match item {
            Item::Method(mut method) => {
                let found = method.take_tools(&mut diag);
                if let (Some(attr), Some(owner)) = (found, &owner) {
                    tools.extend(method.tool(&attr, owner, &block_cfg, &words, &mut diag));
                }
                method.to_tokens(&mut kept);
            }
            Item::Other(mut item) => {
                item::other(&mut item, &mut diag);
                item.to_tokens(&mut kept);
            }
        }
    }
    if let (true, true, Some(owner)) = (tools.is_empty(), diag.is_clean(), &owner) {
        let text = "no method of this block has `#[tool]`, so the set would be empty; put `#[tool]` on each method that a \
                    model may call, or remove `#[tools]`";
        diag.at(owner, text);
    }
    one_name_each(&tools, &mut diag);
    let ItemImpl { attrs, impl_token, generics, trait_, self_ty, .. } = &head;
    let trait_ = trait_.as_ref().map(|(not, path, for_)| quote!(#not #path #for_));
    let bounds = &generics.where_clause;
    let is_clean = diag.is_clean();
    // Mistakes in a block that has no owner are the whole block's: nothing follows from them.
    let allowed = (!is_clean).then(|| quote!(#[allow(dead_code)]));
    let set = owner.map(|owner| set::tokens(&owner, &tools, &block_cfg, &words, is_clean));
    let beside = tools.into_iter().map(|tool| tool.read.tokens(is_clean));
    let beside: TokenStream = beside.chain(set).chain([diag.into_tokens()]).collect();
    quote! {
        #(#attrs)*
        #allowed
        #impl_token #generics #trait_ #self_ty #bounds { #kept }

        #beside
    }
}

/// What stands between the parentheses: `#[tools(pub fn issue_tools, crate = path)]`.
struct Words {
    vis: Option<Visibility>,
    function: Ident,
    krate: Option<Path>,
}

impl Words {
    fn read(tokens: TokenStream, diag: &mut Diag) -> Self {
        const HELP: &str = "`#[tools]` takes the function that gives the set, and the path of the crate: \
                            `#[tools(pub(crate) fn issue_tools, crate = path::to::tinyagents)]`";
        let mut words = Self { vis: None, function: Ident::new("tools", Span::call_site()), krate: None };
        let parser = |input: ParseStream<'_>| {
            while !input.is_empty() {
                if input.peek(Token![crate]) && input.peek2(Token![=]) {
                    input.parse::<Token![crate]>()?;
                    input.parse::<Token![=]>()?;
                    words.krate = Some(input.call(Path::parse_mod_style)?);
                } else if input.peek(Token![pub]) || input.peek(Token![fn]) {
                    words.vis = Some(input.parse()?);
                    input.parse::<Token![fn]>()?;
                    words.function = input.parse()?;
                } else {
                    return Err(input.error(HELP));
                }
                if !input.is_empty() {
                    input.parse::<Token![,]>()?;
                }
            }
            Ok(())
        };
        if let Err(error) = parser.parse2(tokens) {
            diag.at_span(error.span(), HELP);
        }
        words
    }
}

/// The type that the tools hold, if the block is one that can have tools.
fn owner(head: &ItemImpl, diag: &mut Diag) -> Option<TypePath> {
    if let Some((_, path, _)) = &head.trait_ {
        let text = "`#[tools]` goes on a type's own impl block, since the set becomes a function of the type; put the tools \
                    there, and let them call the trait's methods";
        diag.at(path, text);
        return None;
    }
    let generic = head.generics.params.first().map(ToTokens::to_token_stream);
    let owner = match tool::ungrouped(&head.self_ty) {
        Type::Path(path) if path.qself.is_none() => path.clone(),
        other => {
            diag.at(
                other,
                "`#[tools]` goes on the impl block of a struct or enum; write one that holds this type",
            );
            return None;
        }
    };
    let anonymous = owner.path.segments.last().and_then(|segment| match &segment.arguments {
        PathArguments::AngleBracketed(arguments) => anonymous_lifetime(arguments.to_token_stream()),
        _ => None,
    });
    if let Some(tokens) = generic.or(anonymous) {
        let text = "the tools of a generic type are not known here, since each needs one schema and one name; put \
                    `#[tools]` on the impl block of a concrete type, such as `impl Store<Db>`, whose methods call the \
                    generic ones";
        diag.at(tokens, text);
        return None;
    }
    Some(owner)
}

/// The `'_` in a type's arguments.
fn anonymous_lifetime(tokens: TokenStream) -> Option<TokenStream> {
    let tokens: Vec<_> = tokens.into_iter().collect();
    let found = tokens.windows(2).find(|pair| match pair {
        [TokenTree::Punct(tick), TokenTree::Ident(name)] => tick.as_char() == '\'' && name == "_",
        _ => false,
    });
    found.map(|pair| pair.iter().cloned().collect())
}

/// Two tools of one name in one set would be refused by every registry.
fn one_name_each(tools: &[BlockTool], diag: &mut Diag) {
    let mut seen: Vec<String> = Vec::new();
    // Which of two conditional methods exists is not known here; a registry finds out.
    for tool in tools.iter().filter(|tool| tool.cfg.is_empty()) {
        let (name, span) = tool.read.name();
        if seen.contains(&name) {
            let text = format!(
                "another tool of this block is named `{name}`; give one of them another `name = \"..\"` in `#[tool(..)]`"
            );
            diag.at_span(span, text);
        }
        seen.push(name);
    }
}
