//! The words between the parentheses of an attribute: one syntax for `#[tool]`, `#[arg]` and `#[state]`.
//!
//! Guarantee: a word that cannot be read, is not known, or stands twice is reported at its own tokens, and the
//! words after it are read all the same.
//!
//! Not here: what a word means. `syn`'s own reader is not used because it stops at the first mistake and does
//! not take keywords such as `type`.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{
    Expr, Ident, LitStr, MacroDelimiter, Meta, MetaList, MetaNameValue, Path, Token, parenthesized, token,
};

use crate::diag::Diag;

/// An attribute and the words it knows.
pub(crate) struct Grammar {
    /// As in messages: `#[tool]`.
    pub(crate) attribute: &'static str,
    /// Every word.
    pub(crate) words: &'static [&'static str],
}

impl Grammar {
    /// Reads what stands between the parentheses. Only known words come back, each once.
    pub(crate) fn read(&self, tokens: TokenStream, diag: &mut Diag) -> Vec<Meta> {
        let mut words = Vec::new();
        let parser = |input: ParseStream<'_>| {
            while !input.is_empty() {
                match one(input) {
                    Ok(word) => words.push(word),
                    Err(error) => diag.push(error),
                }
                rest_of_word(input, diag)?;
            }
            Ok(())
        };
        let result = parser.parse2(tokens);
        diag.keep(result);
        self.known(words, diag)
    }

    fn known(&self, words: Vec<Meta>, diag: &mut Diag) -> Vec<Meta> {
        let mut kept: Vec<Meta> = Vec::new();
        for word in words {
            let Some(name) = word.path().get_ident().map(Ident::to_string) else { continue };
            if !self.words.contains(&name.as_str()) {
                diag.at(word.path(), self.unknown(&name));
            } else if kept.iter().any(|other| other.path().is_ident(&name)) {
                diag.at(word.path(), format!("`{name}` stands here twice; keep one of them"));
            } else {
                kept.push(word);
            }
        }
        kept
    }

    fn unknown(&self, name: &str) -> String {
        let attribute = self.attribute;
        match nearest(name, self.words) {
            Some(word) => format!("unknown word `{name}` in `{attribute}`; did you mean `{word}`?"),
            None => format!("unknown word `{name}` in `{attribute}`; it knows: {}", self.words.join(", ")),
        }
    }
}

/// The word that was most likely meant.
pub(crate) fn nearest<'a>(name: &str, words: &[&'a str]) -> Option<&'a str> {
    let squeezed = |text: &str| text.replace('_', "").to_lowercase();
    let score = |word: &str| match squeezed(word) == squeezed(name) {
        true => 1.0,
        false => strsim::jaro_winkler(word, name),
    };
    let best = words.iter().copied().max_by(|a, b| score(a).total_cmp(&score(b)))?;
    (score(best) > 0.8).then_some(best)
}

fn one(input: ParseStream<'_>) -> syn::Result<Meta> {
    if !input.peek(Ident::peek_any) {
        let got = input.parse::<TokenTree>()?;
        return Err(syn::Error::new_spanned(got, "expected a word, such as `description = \"..\"`"));
    }
    let path = Path::from(Ident::parse_any(input)?);
    if input.peek(Token![=]) {
        let eq_token = input.parse::<Token![=]>()?;
        if input.is_empty() || input.peek(Token![,]) {
            let word = path.to_token_stream();
            return Err(syn::Error::new_spanned(word, "this word needs a value after its `=`"));
        }
        let value = input.parse::<Expr>()?;
        Ok(Meta::NameValue(MetaNameValue { path, eq_token, value }))
    } else if input.peek(token::Paren) {
        let content;
        let paren_token = parenthesized!(content in input);
        let tokens = content.parse()?;
        Ok(Meta::List(MetaList { path, delimiter: MacroDelimiter::Paren(paren_token), tokens }))
    } else {
        Ok(Meta::Path(path))
    }
}

/// Goes to the start of the next word.
fn rest_of_word(input: ParseStream<'_>, diag: &mut Diag) -> syn::Result<()> {
    if !input.is_empty() && !input.peek(Token![,]) {
        if diag.is_clean() {
            diag.at_span(input.span(), "expected `,` before the next word");
        }
        while !input.is_empty() && !input.peek(Token![,]) {
            input.parse::<TokenTree>()?;
        }
    }
    input.parse::<Option<Token![,]>>()?;
    Ok(())
}

/// The words of `#[attribute(..)]` as tokens; a bare `#[attribute]` has none, `#[attribute = ..]` is a mistake.
pub(crate) fn of_attribute(meta: &Meta, attribute: &str, diag: &mut Diag) -> TokenStream {
    match meta {
        Meta::Path(_) => TokenStream::new(),
        Meta::List(list) => list.tokens.clone(),
        Meta::NameValue(pair) => {
            diag.at(pair, format!("write `#[{attribute}(..)]` with the words in parentheses"));
            TokenStream::new()
        }
    }
}

/// A word that stands alone: present or not.
#[derive(Default, Clone, Copy)]
pub(crate) struct Flag(Option<Span>);

impl Flag {
    /// Where it stands, if it does.
    pub(crate) fn span(self) -> Option<Span> {
        self.0
    }

    /// Whether it stands.
    pub(crate) fn is_set(self) -> bool {
        self.0.is_some()
    }
}

impl darling::FromMeta for Flag {
    fn from_meta(meta: &Meta) -> darling::Result<Self> {
        match meta {
            Meta::Path(path) => Ok(Self(path.get_ident().map(Ident::span))),
            other => {
                let name = name_of(other);
                Err(mistake(other, format!("`{name}` stands alone: write `{name}`, or leave it out")))
            }
        }
    }
}

/// The name of a word.
pub(crate) fn name_of(meta: &Meta) -> String {
    meta.path().get_ident().map(Ident::to_string).unwrap_or_default()
}

/// A mistake at tokens, for the traits of `darling`.
pub(crate) fn mistake(tokens: impl ToTokens, text: impl std::fmt::Display) -> darling::Error {
    syn::Error::new_spanned(tokens, text).into()
}

/// The value of `word = value`; `example` completes "write `word = ..`".
pub(crate) fn value<'a>(meta: &'a Meta, example: &str) -> darling::Result<&'a Expr> {
    match meta {
        Meta::NameValue(pair) => Ok(ungrouped(&pair.value)),
        other => {
            let name = name_of(other);
            Err(mistake(other, format!("`{name}` needs a value: write `{name} = {example}`")))
        }
    }
}

/// The text of `word = "text"`.
pub(crate) fn text(meta: &Meta, example: &str) -> darling::Result<LitStr> {
    match value(meta, example)? {
        Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Ok(text.clone()),
        other => {
            let name = name_of(meta);
            Err(mistake(other, format!("`{name}` takes a text in quotes: write `{name} = {example}`")))
        }
    }
}

/// The path of `crate = path`, with or without quotes.
pub(crate) fn crate_path(meta: &Meta) -> darling::Result<Path> {
    let example = "path::to::tinyagents";
    let refused = "`crate` takes the path of the crate `tinyagents`: write `crate = path::to::tinyagents`";
    match value(meta, example)? {
        Expr::Path(syn::ExprPath { qself: None, path, .. }) => Ok(path.clone()),
        Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => {
            text.parse_with(Path::parse_mod_style).map_err(|_| mistake(text, refused))
        }
        other => Err(mistake(other, refused)),
    }
}

/// Looks through the invisible group around a value that a `macro_rules!` passed on.
pub(crate) fn ungrouped(mut expr: &Expr) -> &Expr {
    while let Expr::Group(group) = expr {
        expr = &group.expr;
    }
    expr
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::quote;

    const GRAMMAR: Grammar = Grammar { attribute: "#[tool]", words: &["read_only", "timeout", "type"] };

    fn read(tokens: TokenStream) -> (usize, String) {
        let mut diag = Diag::default();
        let words = GRAMMAR.read(tokens, &mut diag);
        (words.len(), diag.into_tokens().to_string())
    }

    #[test]
    fn words_after_a_mistake_are_read() {
        let (words, errors) = read(quote!(readonly, timeout = , type = Search, timeout "x", read_only));
        assert_eq!(words, 3);
        assert!(errors.contains("did you mean `read_only`?"), "{errors}");
        assert!(errors.contains("this word needs a value"), "{errors}");
    }

    #[test]
    fn a_doubled_word_is_reported_once() {
        let (words, errors) = read(quote!(read_only, read_only));
        assert_eq!((words, errors.matches("stands here twice").count()), (1, 1));
    }

    #[test]
    fn a_word_that_is_like_no_other_gets_the_list() {
        assert!(read(quote!(zzz)).1.contains("it knows: read_only, timeout, type"));
    }

    #[test]
    fn underscores_and_case_do_not_hide_a_word() {
        assert_eq!(nearest("ReadOnly", GRAMMAR.words), Some("read_only"));
    }
}
