//! `#[tool]`: a corridor of steps, attr → input → check → lower → emit.
//!
//! Guarantee: each step reads the former step's type and nothing older; a mistake found anywhere still leaves
//! the function and a stand-in for the tool, so that one mistake gives one error.
//!
//! Not here: methods (`#[tools]`) and types (`#[tool_type]`).

mod attr;
mod check;
mod emit;
#[cfg(test)]
mod golden;
mod input;
mod kind;
mod limits;
mod lower;
mod name;
mod stand_in;
mod values;

use proc_macro2::TokenStream;

use crate::diag::Diag;

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
