//! Collects what is wrong with one item, so that one pass reports everything.
//!
//! Guarantee: a report never stops the step that makes it, and a panic of this crate becomes an error that says
//! whose fault it is.
//!
//! Not here: the words of an error, which stand where the mistake is found.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};

/// The mistakes found so far.
#[derive(Default)]
pub(crate) struct Diag(Option<syn::Error>);

impl Diag {
    /// Reports a mistake at tokens.
    pub(crate) fn at(&mut self, tokens: impl ToTokens, text: impl Display) {
        self.push(syn::Error::new_spanned(tokens, text));
    }

    /// Reports a mistake at a place.
    pub(crate) fn at_span(&mut self, span: Span, text: impl Display) {
        self.push(syn::Error::new(span, text));
    }

    /// Reports a mistake that was worded elsewhere.
    pub(crate) fn push(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// Keeps a value, or reports why there is none.
    pub(crate) fn keep<T>(&mut self, result: Result<T, impl Into<syn::Error>>) -> Option<T> {
        result.map_err(|error| self.push(error.into())).ok()
    }

    /// Whether nothing was reported.
    pub(crate) fn is_clean(&self) -> bool {
        self.0.is_none()
    }

    /// The reports as `compile_error!` items.
    pub(crate) fn into_tokens(self) -> TokenStream {
        self.0.map_or_else(TokenStream::new, |errors| errors.to_compile_error())
    }
}

/// Runs an entry point. If it panics, the item is kept and the error says that the user did nothing wrong.
pub(crate) fn guarded(entry: &str, kept: TokenStream, expand: impl FnOnce() -> TokenStream) -> TokenStream {
    catch_unwind(AssertUnwindSafe(expand)).unwrap_or_else(|panic| {
        let reason = match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
            (Some(text), _) => (*text).to_owned(),
            (None, Some(text)) => text.clone(),
            (None, None) => "no reason given".to_owned(),
        };
        let text = format!(
            "`{entry}` failed on this item: {reason}; this is a bug of tinyagents, not of your code: please \
             report it with the item"
        );
        let error = syn::Error::new(Span::call_site(), text).to_compile_error();
        quote!(#kept #error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::panic, reason = "the subject of the test")]
    fn a_panic_becomes_an_error_and_keeps_the_item() {
        let tokens = guarded(
            "#[tool]",
            quote!(
                fn kept() {}
            ),
            || std::panic::panic_any("boom"),
        );
        let text = tokens.to_string();
        assert!(text.contains("fn kept () { }"), "{text}");
        assert!(text.contains("boom; this is a bug of tinyagents"), "{text}");
    }
}
