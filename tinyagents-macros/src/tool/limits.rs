//! What `#[arg]` declares of a value: bounds, lists, patterns, other names, examples.
//!
//! Guarantee: bounds that nothing can satisfy, and a default outside its own bounds, are refused where tokens tell.
//!
//! Not here: what only a value or a type tells, which is refused when the tool is registered.

use darling::FromMeta;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use regex_lite::Regex;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, ExprRange, ExprUnary, Lit, LitStr, Meta, RangeLimits, Token, UnOp};

use super::attr::{ArgWords, DefaultValue};
use super::shape::Shape;
use super::values::reads;
use crate::diag::Diag;
use crate::words::{mistake, name_of, text, ungrouped, value};

/// `range = 1..=50`.
#[derive(Clone)]
pub(crate) struct Range(pub(crate) Ends);

/// `len = 1..=100`.
#[derive(Clone)]
pub(crate) struct Length(pub(crate) Ends);

/// The ends of a range.
#[derive(Clone)]
pub(crate) struct Ends {
    pub(crate) start: Option<Expr>,
    pub(crate) end: Option<Expr>,
    /// Whether the end itself is outside.
    pub(crate) open: bool,
    written: ExprRange,
}

/// `pattern = ".."`.
pub(crate) struct Pattern {
    pub(crate) text: LitStr,
    compiled: Regex,
}

/// `one_of = [..]`.
#[derive(Clone)]
pub(crate) struct Choices(pub(crate) Vec<Expr>);

/// `example = ..`.
#[derive(Clone)]
pub(crate) struct Example(pub(crate) Expr);

/// `alias = ".."` or `alias("..", "..")`.
#[derive(Clone, Default)]
pub(crate) struct Aliases(pub(crate) Vec<LitStr>);

reads! {
    Range => |meta| ends(meta, "1..=50").map(Range);
    Length => |meta| {
        let ends = ends(meta, "1..=100")?;
        for end in ends.start.iter().chain(&ends.end) {
            if literal(end).is_some_and(|value| !matches!(value, Literal::Int(size) if size >= 0)) {
                return Err(mistake(end, "a length is a whole number, 0 or more"));
            }
        }
        Ok(Length(ends))
    };
    Pattern => |meta| {
        let text = text(meta, "r\"^[a-z]+$\"")?;
        match Regex::new(&text.value()) {
            Ok(compiled) => Ok(Pattern { text, compiled }),
            Err(error) => {
                let reason = format!(
                    "this pattern is no regular expression: {error}; write one without look-around, \
                     back-references and `\\p{{..}}`, such as `r\"^[a-z]+$\"`"
                );
                Err(mistake(text, reason))
            }
        }
    };
    Choices => |meta| {
        let wanted = "`one_of` takes the list of all good values: write `one_of = [\"asc\", \"desc\"]`";
        match value(meta, "[\"asc\", \"desc\"]")? {
            Expr::Array(list) if !list.elems.is_empty() => Ok(Choices(list.elems.iter().cloned().collect())),
            other => Err(mistake(other, wanted)),
        }
    };
    Example => |meta| value(meta, "\"..\"").cloned().map(Example);
    Aliases => |meta| {
        let name = name_of(meta);
        let Meta::List(list) = meta else { return text(meta, "\"..\"").map(|text| Aliases(vec![text])) };
        let wanted = format!("`{name}` takes other names in quotes: write `{name}(\"..\", \"..\")`");
        let parsed = list.parse_args_with(Punctuated::<LitStr, Token![,]>::parse_terminated);
        let texts = parsed.map_err(|error| darling::Error::custom(&wanted).with_span(&error.span()))?;
        if texts.is_empty() {
            return Err(mistake(meta, wanted));
        }
        Ok(Aliases(texts.into_iter().collect()))
    };
}

fn ends(meta: &Meta, example: &str) -> darling::Result<Ends> {
    let name = name_of(meta);
    let given = value(meta, example)?;
    let Expr::Range(range) = given else {
        let text = format!("`{name}` takes a range: write `{name} = {example}`, `1..` or `..=9`");
        return Err(mistake(given, text));
    };
    let (start, end) = (range.start.as_deref().cloned(), range.end.as_deref().cloned());
    if start.is_none() && end.is_none() {
        return Err(mistake(range, format!("this bounds nothing; write an end, or remove `{name}`")));
    }
    for end in start.iter().chain(&end) {
        match literal(end) {
            Some(Literal::Text(_) | Literal::Other) => {
                return Err(mistake(end, format!("`{name}` ends at numbers: write `{name} = {example}`")));
            }
            Some(Literal::Int(number))
                if i64::try_from(number).is_err() && u64::try_from(number).is_err() =>
            {
                return Err(mistake(
                    end,
                    "a bound has at most 64 bits; write a smaller one, or leave it out",
                ));
            }
            _ => {}
        }
    }
    let open = matches!(range.limits, RangeLimits::HalfOpen(_));
    let ends = Ends { start, end, open, written: range.clone() };
    if let Some(start) = ends.start.as_ref().and_then(literal) {
        if ends.holds_below(&start) == Some(false) {
            let text = format!("nothing is in `{}`; write a start below the end", ends.shown());
            return Err(mistake(range, text));
        }
    }
    Ok(ends)
}

impl Ends {
    fn holds_above(&self, value: &Literal) -> Option<bool> {
        let start = self.start.as_ref()?;
        Some(value.compare(&literal(start)?)? != std::cmp::Ordering::Less)
    }

    fn holds_below(&self, value: &Literal) -> Option<bool> {
        let end = self.end.as_ref()?;
        let order = value.compare(&literal(end)?)?;
        Some(order == std::cmp::Ordering::Less || (!self.open && order == std::cmp::Ordering::Equal))
    }

    /// Whether a value is known to be outside.
    fn excludes(&self, value: &Literal) -> bool {
        self.holds_above(value) == Some(false) || self.holds_below(value) == Some(false)
    }

    fn shown(&self) -> String {
        self.written.to_token_stream().to_string().replace(' ', "")
    }
}

/// A value that tokens tell.
#[derive(Debug, PartialEq)]
pub(crate) enum Literal {
    Int(i128),
    Float(f64),
    Text(String),
    Other,
}

impl Literal {
    #[expect(clippy::cast_precision_loss, reason = "a bound that is compared with a float is one")]
    fn compare(&self, other: &Self) -> Option<std::cmp::Ordering> {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => Some(a.cmp(b)),
            (Self::Int(a), Self::Float(b)) => (*a as f64).partial_cmp(b),
            (Self::Float(a), Self::Int(b)) => a.partial_cmp(&(*b as f64)),
            (Self::Float(a), Self::Float(b)) => a.partial_cmp(b),
            _ => None,
        }
    }
}

fn literal(expr: &Expr) -> Option<Literal> {
    match ungrouped(expr) {
        Expr::Paren(paren) => literal(&paren.expr),
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => match literal(expr)? {
            Literal::Int(number) => Some(Literal::Int(-number)),
            Literal::Float(number) => Some(Literal::Float(-number)),
            other => Some(other),
        },
        Expr::Lit(lit) => Some(match &lit.lit {
            Lit::Int(number) => Literal::Int(number.base10_parse().ok()?),
            Lit::Float(number) => Literal::Float(number.base10_parse().ok()?),
            Lit::Str(text) => Literal::Text(text.value()),
            _ => Literal::Other,
        }),
        _ => None,
    }
}

/// The expression, with a type for an integer that is not told by its place.
pub(crate) fn typed(expr: &Expr) -> TokenStream {
    let inner = ungrouped(expr);
    let plain = match inner {
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => ungrouped(expr),
        other => other,
    };
    let is_plain =
        matches!(plain, Expr::Lit(lit) if matches!(&lit.lit, Lit::Int(int) if int.suffix().is_empty()));
    match literal(inner) {
        Some(Literal::Int(number)) if is_plain => {
            let suffix = if i64::try_from(number).is_ok() { "i64" } else { "u64" };
            let minus = (number < 0).then(|| quote!(-));
            let number = syn::LitInt::new(&format!("{}{suffix}", number.unsigned_abs()), inner.span());
            quote!(#minus #number)
        }
        _ => expr.to_token_stream(),
    }
}

/// Reports words that do not fit the type, and a default that does not fit the words.
pub(crate) fn check(words: &ArgWords, shape: Option<Shape>, diag: &mut Diag) {
    let place = |name: &str| words.given.iter().find(|(word, _)| word == name).map(|(_, span)| *span);
    let is = match shape {
        Some(Shape::Text) => "a text",
        Some(Shape::Number) => "a number",
        Some(Shape::Bool) => "true or false",
        Some(Shape::List) => "a list",
        Some(Shape::Map) => "a map",
        None => "",
    };
    let rules: [(&str, &[Shape], &str); 5] = [
        ("range", &[Shape::Number], "bounds numbers"),
        ("len", &[Shape::Text, Shape::List, Shape::Map], "bounds texts, lists and maps"),
        ("pattern", &[Shape::Text], "describes texts"),
        ("format", &[Shape::Text], "describes texts"),
        ("one_of", &[Shape::Text, Shape::Number, Shape::Bool], "lists the values of the parameter itself"),
    ];
    for (word, good, does) in rules {
        let Some((span, shape)) = place(word).zip(shape) else { continue };
        if good.contains(&shape) {
            continue;
        }
        let way_out = match (word, shape) {
            ("range", Shape::Text | Shape::List | Shape::Map) => "write `len`",
            ("len", Shape::Number) => "write `range`",
            ("one_of", _) => "take a list of an enum type instead",
            _ => "remove it",
        };
        diag.at_span(span, format!("`{word}` {does}, and this parameter is {is}; {way_out}"));
    }
    default(words, shape, diag);
}

fn default(words: &ArgWords, shape: Option<Shape>, diag: &mut Diag) {
    let (value, span): (_, Span) = match &words.default {
        Some(DefaultValue::Value(expr)) => match literal(expr) {
            Some(value) => (value, expr.span()),
            None => return,
        },
        Some(DefaultValue::Text(text)) => (Literal::Text(text.value()), text.span()),
        Some(DefaultValue::OfType) | None => return,
    };
    let outside = |what: &str, rule: &str| {
        format!("this default is outside its own {what}: {rule}; change one of the two")
    };
    if let Some(range) = words.range.as_ref().filter(|range| range.0.excludes(&value)) {
        diag.at_span(span, outside("range", &format!("`range = {}`", range.0.shown())));
    }
    let Literal::Text(text) = &value else {
        choices(words, &value, span, diag);
        return;
    };
    if let (Some(len), Some(Shape::Text)) = (&words.len, shape) {
        let length = text.chars().count();
        if len.0.excludes(&Literal::Int(i128::try_from(length).unwrap_or(i128::MAX))) {
            let rule = format!("it has {length} characters, and `len = {}`", len.0.shown());
            diag.at_span(span, outside("length", &rule));
        }
    }
    if let Some(pattern) = words.pattern.as_ref().filter(|pattern| !pattern.compiled.is_match(text)) {
        diag.at_span(span, outside("pattern", &format!("`{}`", pattern.text.value())));
    }
    choices(words, &value, span, diag);
}

fn choices(words: &ArgWords, value: &Literal, span: Span, diag: &mut Diag) {
    let Some(choices) = &words.one_of else { return };
    let known: Option<Vec<_>> = choices.0.iter().map(literal).collect();
    if known.is_some_and(|known| !known.contains(value)) {
        let shown: Vec<_> = choices.0.iter().map(|choice| choice.to_token_stream().to_string()).collect();
        let text = format!(
            "this default is not one of its own values: `one_of = [{}]`; change one of the two",
            shown.join(", ")
        );
        diag.at_span(span, text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    #[test]
    fn integers_get_a_type_that_holds_them() {
        let number = |expr: Expr| typed(&expr).to_string();
        assert_eq!(number(parse_quote!(-5)), "- 5i64");
        assert_eq!(number(parse_quote!(18446744073709551615)), "18446744073709551615u64");
        assert_eq!(number(parse_quote!(5u8)), "5u8");
        assert_eq!(number(parse_quote!(MAX)), "MAX");
    }

    #[test]
    fn ends_hold_what_they_say() {
        let ends = |meta: Meta| ends(&meta, "1..=50").map_err(|error| error.to_string());
        let half_open = ends(parse_quote!(range = 1..50)).unwrap_or_else(|error| unreachable!("{error}"));
        assert!(half_open.excludes(&Literal::Int(50)) && !half_open.excludes(&Literal::Int(49)));
        assert!(half_open.excludes(&Literal::Int(0)) && !half_open.excludes(&Literal::Float(1.0)));
        assert!(ends(parse_quote!(range = 5..5)).is_err());
        assert!(ends(parse_quote!(range = ..)).is_err());
        assert!(ends(parse_quote!(range = -1.5..=MAX)).is_ok());
    }
}
