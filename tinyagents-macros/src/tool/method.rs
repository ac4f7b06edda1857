//! What differs when a tool is a method of a block with `#[tools]`.
//!
//! Guarantee: the generated type holds the receiver, so a tool stays one value; its name begins with the owner's, so
//! methods of one name on two types do not meet.
//!
//! Not here: the block itself (`tools`), and everything that methods and functions have in common.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{FnArg, GenericArgument, PathArguments, Receiver, Signature, Type, TypePath, Visibility};

use super::input::plain;
use super::kind::{last_segment, ungrouped};
use super::name;
use crate::diag::Diag;
use crate::krate::Krate;

/// Whose method a tool is, and how it takes its owner.
#[derive(Clone)]
pub(crate) struct Method {
    owner: TypePath,
    held: Held,
}

/// How a method takes its owner.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Held {
    /// Not at all.
    Not,
    /// `&self` or `self: &Arc<Self>`.
    Borrowed,
    /// `self: Arc<Self>`.
    Cloned,
}

impl Method {
    /// Reads the receiver of a method.
    pub(crate) fn read(owner: &TypePath, sig: &Signature, diag: &mut Diag) -> Self {
        let held = match sig.inputs.first() {
            Some(FnArg::Receiver(receiver)) => held(receiver, diag),
            _ => Held::Not,
        };
        Self { owner: owner.clone(), held }
    }

    /// Whether the tool holds its owner.
    pub(crate) fn has_receiver(&self) -> bool {
        self.held != Held::Not
    }

    /// The owner's name and the method's: `issues` of `GitHub` gives `GitHubIssues`.
    pub(crate) fn type_ident(&self, method: &Ident) -> Ident {
        let owner = self.owner.path.segments.last().map(|segment| plain(&segment.ident)).unwrap_or_default();
        let own = name::type_ident(method);
        Ident::new(&format!("{owner}{own}"), own.span())
    }

    /// The declaration of a tool's type, a function's or a method's.
    pub(crate) fn declaration(
        method: Option<&Self>,
        krate: &Krate,
        vis: &Visibility,
        ident: &Ident,
        span: Span,
    ) -> TokenStream {
        let Some(Self { owner, .. }) = method.filter(|method| method.has_receiver()) else {
            let declared = quote_spanned!(span=> struct #ident;);
            return quote! {
                #[derive(#krate::__private::Clone, #krate::__private::Copy)]
                #[derive(#krate::__private::Debug)]
                #vis #declared
            };
        };
        let declared = quote_spanned!(span=> struct #ident);
        quote! {
            #[allow(private_interfaces)]
            #[derive(#krate::__private::Clone)]
            #vis #declared(#vis #krate::__private::Arc<#owner>);
        }
    }

    /// What a method needs beside the other hidden items.
    pub(crate) fn items(&self, p: &TokenStream, ident: &Ident) -> TokenStream {
        let owner = &self.owner;
        let name = ident.to_string();
        // A derive would ask the owner for `Debug`.
        let debug = self.has_receiver().then(|| {
            quote! {
                impl #p::Debug for #ident {
                    fn fmt(&self, f: &mut #p::Formatter<'_>) -> #p::FmtResult {
                        f.write_str(#name)
                    }
                }
            }
        });
        quote! {
            #[allow(dead_code)]
            type __Self = #owner;

            #debug
        }
    }

    /// The receiver as the generated call passes it.
    pub(crate) fn receiver(&self, p: &TokenStream) -> Option<TokenStream> {
        match self.held {
            Held::Not => None,
            Held::Borrowed => Some(quote!(&self.0)),
            Held::Cloned => Some(quote!(#p::Arc::clone(&self.0))),
        }
    }

    /// What the generated call calls.
    pub(crate) fn path(method: Option<&Self>, function: &Ident) -> TokenStream {
        match method {
            None => function.to_token_stream(),
            Some(_) => {
                quote_spanned!(function.span().resolved_at(Span::call_site())=> __Self::#function)
            }
        }
    }
}

/// `Self` means another type in generated items; there the owner is `__Self`.
pub(crate) fn without_self(tokens: TokenStream) -> TokenStream {
    use proc_macro2::{Group, TokenTree};
    let replaced = tokens.into_iter().map(|token| match token {
        TokenTree::Ident(ident) if ident == "Self" => {
            TokenTree::Ident(Ident::new("__Self", ident.span().resolved_at(Span::call_site())))
        }
        TokenTree::Group(group) => {
            let mut inner = Group::new(group.delimiter(), without_self(group.stream()));
            inner.set_span(group.span());
            TokenTree::Group(inner)
        }
        other => other,
    });
    replaced.collect()
}

fn held(receiver: &Receiver, diag: &mut Diag) -> Held {
    let exclusive = "calls share the value that `self` is, so a tool cannot borrow it mutably; take `&self` and keep what \
                     changes in a `Mutex` or an atomic";
    if receiver.colon_token.is_none() {
        match (&receiver.reference, &receiver.mutability) {
            (Some(_), None) => {}
            (Some(_), Some(word)) => diag.at(word, exclusive),
            (None, _) => {
                let text =
                    "a tool is called more than once, and the first call would use `self` up; take `&self`";
                diag.at(receiver.self_token, text);
            }
        }
        return Held::Borrowed;
    }
    match ungrouped(&receiver.ty) {
        Type::Reference(reference) => {
            if let Some(word) = &reference.mutability {
                diag.at(word, exclusive);
            } else if !is_self(&reference.elem) && !is_arc(&reference.elem) {
                diag.at(&receiver.ty, RECEIVERS);
            }
            Held::Borrowed
        }
        ty if is_arc(ty) => Held::Cloned,
        _ => {
            diag.at(&receiver.ty, RECEIVERS);
            Held::Borrowed
        }
    }
}

const RECEIVERS: &str = "the calls of a run share the value that `self` is through an `Arc`; take `&self`, `self: &Arc<Self>` or \
                         `self: Arc<Self>`";

fn is_self(ty: &Type) -> bool {
    last_segment(ty).is_some_and(|segment| segment.ident == "Self")
}

fn is_arc(ty: &Type) -> bool {
    last_segment(ty).filter(|segment| segment.ident == "Arc").is_some_and(|segment| {
        let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return false };
        matches!(arguments.args.first(), Some(GenericArgument::Type(ty)) if is_self(ty))
    })
}
