//! The items of a block: methods with their bodies unread, and the rest.
//!
//! Guarantee: nothing that may be a tool is passed over in silence.
//!
//! Not here: what a method becomes (`tool`).

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::ParseStream;
use syn::parse::discouraged::Speculative;
use syn::{Attribute, FnArg, ImplItem, ItemImpl, Signature, TypePath, Visibility};

use super::Words;
use crate::diag::Diag;
use crate::tool::{self, Method, ReadMethod};

/// An impl block without its items, and the items.
pub(super) fn block(item: TokenStream) -> Option<(ItemImpl, TokenStream)> {
    let mut tokens: Vec<_> = item.into_iter().collect();
    let Some(TokenTree::Group(items)) = tokens.pop() else { return None };
    let mut empty = Group::new(items.delimiter(), TokenStream::new());
    empty.set_span(items.span());
    tokens.push(empty.into());
    Some((syn::parse2(tokens.into_iter().collect()).ok()?, items.stream()))
}

/// A tool of the block.
pub(super) struct BlockTool {
    pub(super) read: ReadMethod,
    pub(super) vis: Visibility,
    pub(super) cfg: Vec<Attribute>,
}

/// An item of the block.
pub(super) enum Item {
    Method(Box<BlockMethod>),
    Other(Box<ImplItem>),
}

/// A method, its body unread: half-typed code still gives a tool.
pub(super) struct BlockMethod {
    attrs: Vec<Attribute>,
    vis: Visibility,
    sig: Signature,
    body: TokenTree,
    /// Whether `#[tool]` stood on it.
    is_tool: bool,
}

/// Reads the items of a block.
pub(super) fn parsed(input: ParseStream<'_>) -> syn::Result<Vec<Item>> {
    let mut items = Vec::new();
    while !input.is_empty() {
        let ahead = input.fork();
        items.push(match method(&ahead) {
            Ok(method) => {
                input.advance_to(&ahead);
                Item::Method(Box::new(method))
            }
            Err(_) => Item::Other(Box::new(input.parse()?)),
        });
    }
    Ok(items)
}

fn method(input: ParseStream<'_>) -> syn::Result<BlockMethod> {
    Ok(BlockMethod {
        attrs: Attribute::parse_outer(input)?,
        vis: input.parse()?,
        sig: input.parse()?,
        body: input.parse()?,
        is_tool: false,
    })
}

impl ToTokens for BlockMethod {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { attrs, vis, sig, body, .. } = self;
        let mut sig = sig.clone();
        if self.is_tool {
            strip(&mut sig);
        }
        tokens.extend(quote!(#(#attrs)* #vis #sig #body));
    }
}

/// Removes the attributes of parameters that only this crate understands.
fn strip(sig: &mut Signature) {
    for input in &mut sig.inputs {
        let attrs = match input {
            FnArg::Receiver(receiver) => &mut receiver.attrs,
            FnArg::Typed(typed) => &mut typed.attrs,
        };
        attrs.retain(|attr| !tool::is_ours(attr));
    }
}

impl BlockMethod {
    /// Takes `#[tool]` off the method.
    pub(super) fn take_tools(&mut self, diag: &mut Diag) -> Option<Attribute> {
        let mut found = None;
        for attr in std::mem::take(&mut self.attrs) {
            if hides_tool(&attr) {
                diag.at(&attr, HIDDEN);
            } else if !is_tool(&attr) {
                self.attrs.push(attr);
            } else if found.is_some() {
                diag.at(attr.path(), "`#[tool]` stands here twice; keep one of them");
            } else {
                self.is_tool = true;
                found = Some(attr);
            }
        }
        found
    }

    /// Reads the method as a tool.
    pub(super) fn tool(
        &self,
        attr: &Attribute,
        owner: &TypePath,
        block_cfg: &[Attribute],
        words: &Words,
        diag: &mut Diag,
    ) -> Option<BlockTool> {
        let Self { attrs, vis, sig, .. } = self;
        let own = crate::words::of_attribute(&attr.meta, "tool", diag);
        let krate = words.krate.as_ref().map(|path| quote!(crate = #path,));
        let method = Method::read(owner, sig, diag);
        let cfg = attrs.iter().filter(|attr| attr.path().is_ident("cfg")).cloned().collect();
        let item = quote!(#(#block_cfg)* #(#attrs)* #vis #sig);
        let read = tool::read_method(quote!(#krate #own), item, method, diag)?;
        Some(BlockTool { read, vis: vis.clone(), cfg })
    }
}

const HIDDEN: &str = "`#[tools]` cannot know whether this stands for `#[tool]`; write `#[tool]` on two versions of the method, \
                      each with its `#[cfg]`";

fn is_tool(attr: &Attribute) -> bool {
    attr.path().segments.last().is_some_and(|segment| segment.ident == "tool")
}

fn hides_tool(attr: &Attribute) -> bool {
    fn has_tool(tokens: TokenStream) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Ident(ident) => ident == "tool",
            TokenTree::Group(group) => has_tool(group.stream()),
            _ => false,
        })
    }
    attr.path().is_ident("cfg_attr") && has_tool(attr.meta.to_token_stream())
}

/// Reports what is no method and yet may be a tool.
pub(super) fn other(item: &mut ImplItem, diag: &mut Diag) {
    let attrs = match item {
        ImplItem::Macro(call) => {
            let name = call.mac.path.to_token_stream().to_string().replace(' ', "");
            let text = format!(
                "`#[tools]` cannot see what `{name}!` writes here, and would miss a tool in it; move the call to an impl \
                 block of its own"
            );
            diag.at(&call.mac, text);
            return;
        }
        ImplItem::Const(item) => &mut item.attrs,
        ImplItem::Type(item) => &mut item.attrs,
        ImplItem::Fn(item) => &mut item.attrs,
        _ => return,
    };
    attrs.retain(|attr| {
        if is_tool(attr) {
            diag.at(
                attr,
                "`#[tool]` goes on a method: `async fn search(&self, query: String) -> String { .. }`",
            );
        }
        !is_tool(attr)
    });
}
