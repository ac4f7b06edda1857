//! The function of a block that gives its tools as one set.
//!
//! Guarantee: it exists for every state and context for which all tools exist, in the order of the methods.
//!
//! Not here: `toolset![..]`, which puts sets together (`toolset`).

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Attribute, TypePath, Visibility};

use super::Words;
use super::item::BlockTool;
use crate::krate::Krate;

/// The function that gives the set.
pub(super) fn tokens(
    owner: &TypePath,
    tools: &[BlockTool],
    block_cfg: &[Attribute],
    words: &Words,
    is_clean: bool,
) -> TokenStream {
    let krate = Krate::new(words.krate.as_ref());
    let vis = match &words.vis {
        Some(vis) => vis.clone(),
        None => widest(tools),
    };
    let function = &words.function;
    let holds = tools.iter().any(|tool| tool.read.has_receiver());
    let receiver = holds.then(|| quote!(self: &__t::Arc<Self>));
    let names: Vec<_> = (0..tools.len()).map(|index| format_ident!("__T{index}")).collect();
    let types = tools.iter().zip(&names).map(|(tool, name)| {
        let (ty, cfg) = (tool.read.type_ident(), &tool.cfg);
        let absent = (!cfg.is_empty()).then(|| {
            let conditions =
                cfg.iter().filter_map(|attr| attr.meta.require_list().ok()).map(|list| &list.tokens);
            quote!(#[cfg(not(all(#(#conditions),*)))] #[allow(dead_code)] type #name = __t::Absent;)
        });
        quote!(#(#cfg)* type #name = #ty; #absent)
    });
    let body = if is_clean {
        let steps = tools.iter().map(|tool| {
            let (ty, cfg) = (tool.read.type_ident(), &tool.cfg);
            let held = tool.read.has_receiver().then(|| quote!((__t::Arc::clone(self))));
            quote!(#(#cfg)* let set = set.with(#ty #held);)
        });
        quote!(let set = __t::Toolset::new(); #(#steps)* set)
    } else {
        quote!(::core::unreachable!())
    };
    let bounds = is_clean.then(|| quote!(#(#names: __t::Tool<State, Ctx>,)*));
    let types = is_clean.then(|| quote!(#(#types)*));
    quote! {
        #(#block_cfg)*
        #[allow(deprecated)]
        const _: () = {
            use #krate::__private as __t;

            #types

            #[allow(dead_code, unreachable_pub, private_bounds)]
            impl #owner {
                /// The tools of this type, in the order of its methods, as one set.
                #[must_use]
                #vis fn #function<State, Ctx>(#receiver) -> __t::Toolset<State, Ctx>
                where
                    State: __t::Send + __t::Sync,
                    Ctx: __t::Send + __t::Sync,
                    #bounds
                {
                    #body
                }
            }
        };
    }
}

/// The visibility of the most visible tool.
fn widest(tools: &[BlockTool]) -> Visibility {
    let rank = |vis: &Visibility| match vis {
        Visibility::Public(_) => 3,
        Visibility::Restricted(vis) if vis.path.is_ident("crate") => 2,
        Visibility::Restricted(_) => 1,
        Visibility::Inherited => 0,
    };
    tools.iter().map(|tool| &tool.vis).max_by_key(|vis| rank(vis)).cloned().unwrap_or(Visibility::Inherited)
}
