//! What is written in place of a tool that has a mistake.
//!
//! Guarantee: the function stays usable and the type is a tool for every state, so that nothing but the
//! mistake is reported.
//!
//! Not here: anything that could run. The program does not compile.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::input::Input;
use super::method::Method;
use super::name::beside_prelude;

/// The name of the tool's type.
pub(crate) fn ident(input: &Input) -> Ident {
    match &input.attr.words.type_name {
        Some(name) => name.0.clone(),
        None => {
            let ident = input.type_ident();
            beside_prelude(&ident).unwrap_or(ident)
        }
    }
}

/// Writes the function and a stand-in for its tool.
pub(crate) fn tokens(input: &Input) -> TokenStream {
    let Input { function, vis, krate, carried, .. } = input;
    if input.in_impl {
        // No other item may stand beside a method.
        return function.clone();
    }
    let ident = ident(input);
    // A method stays in its block.
    let function = input.method.is_none().then(|| quote!(#[allow(dead_code)] #function));
    let method = input.method.as_ref();
    let declared = Method::declaration(method, krate, vis, &ident, ident.span());
    let owner = method.map(|method| method.items(&quote!(__t), &ident));
    let cfg = carried.iter().filter(|attr| attr.path().is_ident("cfg"));
    quote! {
        #function

        #(#carried)*
        #declared

        #(#cfg)*
        #[allow(deprecated)]
        const _: () = {
            use #krate::__private as __t;
            #owner

            #[allow(dead_code)]
            impl #ident {
                /// A stand-in.
                #vis const NAME: &'static str = "";
                /// A stand-in.
                #vis const PARAMETERS: &'static [&'static str] = &[];

                /// A stand-in.
                #vis fn policy() -> __t::ToolPolicy {
                    ::core::unreachable!()
                }

                /// A stand-in.
                #vis fn spec() -> &'static __t::ToolSpec {
                    ::core::unreachable!()
                }
            }

            impl<__S: __t::Send + __t::Sync, __C: __t::Send + __t::Sync> __t::Tool<__S, __C> for #ident {
                fn spec(&self) -> __t::ToolSpec {
                    ::core::unreachable!()
                }

                fn call<'__me, '__a, '__b, '__c>(
                    &'__me self,
                    _: &'__a __S,
                    _: __t::ToolRuntime<'__b, __C>,
                    _: __t::ToolCall,
                ) -> __t::Called<'__c>
                where
                    '__me: '__c,
                    '__a: '__c,
                    '__b: '__c,
                    Self: '__c,
                {
                    ::core::unreachable!()
                }
            }
        };
    }
}
