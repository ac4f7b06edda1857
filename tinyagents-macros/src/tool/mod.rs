//! `#[tool]`: a corridor of steps, attr → input → check → lower → emit.
//!
//! Guarantee: each step reads the former step's type and nothing older; a mistake found anywhere still leaves
//! the function and a stand-in for the tool, so that one mistake gives one error.
//!
//! Not here: blocks of methods (`tools`) and types (`tool_type`).

mod attr;
mod check;
mod emit;
#[cfg(test)]
mod golden;
mod input;
mod kind;
mod limits;
mod lower;
mod method;
mod name;
mod shape;
mod stand_in;
mod values;

use proc_macro2::{Ident, Span, TokenStream};

use crate::diag::Diag;

pub(crate) use input::{is_ours, item_start};
pub(crate) use kind::ungrouped;
pub(crate) use method::Method;

/// A method of a block with `#[tools]`, read and checked.
pub(crate) struct ReadMethod(input::Input);

/// Reads a method with `#[tool]` on it: `item` has its attributes, visibility and signature, and no body.
pub(crate) fn read_method(
    words: TokenStream,
    item: TokenStream,
    method: Method,
    diag: &mut Diag,
) -> Option<ReadMethod> {
    let input = input::read_method(method::without_self(words), method::without_self(item), method, diag)?;
    check::check(&input, diag);
    Some(ReadMethod(input))
}

impl ReadMethod {
    /// The name by which a model calls the tool, and where it is written.
    pub(crate) fn name(&self) -> (String, Span) {
        check::tool_name(&self.0)
    }

    /// The tool's type.
    pub(crate) fn type_ident(&self) -> Ident {
        stand_in::ident(&self.0)
    }

    /// Whether the tool holds the owner of the method.
    pub(crate) fn has_receiver(&self) -> bool {
        self.0.method.as_ref().is_some_and(Method::has_receiver)
    }

    /// What is written beside the block.
    pub(crate) fn tokens(self, is_clean: bool) -> TokenStream {
        if is_clean { emit::tokens(&lower::plan(self.0)) } else { stand_in::tokens(&self.0) }
    }
}

/// Expands the attribute.
pub(crate) fn expand(words: TokenStream, item: TokenStream) -> TokenStream {
    let mut diag = Diag::default();
    let Some(input) = input::read(words, item.clone(), &mut diag) else {
        return item.into_iter().chain(diag.into_tokens()).collect();
    };
    check::check(&input, &mut diag);
    if diag.is_clean() {
        return emit::tokens(&lower::plan(input));
    }
    let stand_in = stand_in::tokens(&input);
    stand_in.into_iter().chain(diag.into_tokens()).collect()
}
