//! Values of the attribute's words: durations, sizes, choices, counts and lists.
//!
//! Guarantee: a value that cannot be read is refused at its own tokens, with one that can.
//!
//! Not here: whether a value fits the rest of the tool (`check`).

use darling::FromMeta;
use proc_macro2::Span;
use syn::punctuated::Punctuated;
use syn::{Expr, ExprLit, ExprPath, Ident, Lit, LitStr, Meta, Path, Token};

use crate::words::{crate_path, mistake, name_of, text, value};

/// A value and where it stands.
#[derive(Clone)]
pub(crate) struct At<T> {
    /// The value.
    pub(crate) value: T,
    /// Its place.
    pub(crate) span: Span,
}

/// Implements `FromMeta` by a function of the whole word.
macro_rules! reads {
    ($($type:ty => $read:expr;)*) => {$(
        impl FromMeta for $type {
            fn from_meta(meta: &Meta) -> darling::Result<Self> {
                let read: fn(&Meta) -> darling::Result<$type> = $read;
                read(meta)
            }
        }
    )*};
}

pub(super) use reads;

reads! {
    Text => |meta| text(meta, "\"..\"").map(Text);
    TypeName => |meta| match value(meta, "MyTool")? {
        Expr::Path(path) if path.qself.is_none() && path.path.get_ident().is_some() => {
            path.path.get_ident().cloned().map(TypeName).ok_or_else(|| mistake(path, NAME_OF_TYPE))
        }
        other => Err(mistake(other, NAME_OF_TYPE)),
    };
    CratePath => |meta| crate_path(meta).map(CratePath);
    Millis => |meta| {
        let text = match value(meta, "\"30s\"")? {
            Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => {
                let unit = if number.suffix().is_empty() { "s" } else { number.suffix() };
                let better = format!("{}{unit}", number.base10_digits());
                return Err(mistake(number, format!("a time is a text with a unit: write `timeout = \"{better}\"`")));
            }
            _ => text(meta, "\"30s\"")?,
        };
        let value = millis(&text.value()).map_err(|reason| mistake(&text, reason))?;
        Ok(Millis(At { value, span: text.span() }))
    };
    Bytes => |meta| match value(meta, "\"64KiB\"")? {
        Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => {
            let text = format!("{}{}", number.base10_digits(), number.suffix());
            bytes(&text).map(Bytes).map_err(|reason| mistake(number, reason))
        }
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => {
            bytes(&text.value()).map(Bytes).map_err(|reason| mistake(text, reason))
        }
        other => Err(mistake(other, SIZE)),
    };
    Count => |meta| {
        let expr = value(meta, "3")?;
        if let Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) = expr {
            if let Ok(value) = number.base10_parse::<u32>() {
                return Ok(Count(At { value, span: number.span() }));
            }
        }
        let name = name_of(meta);
        Err(mistake(expr, format!("`{name}` takes a whole number up to {}: write `{name} = 3`", u32::MAX)))
    };
    Function => |meta| match value(meta, "path::to::function")? {
        Expr::Path(path) => Ok(Function(path.clone())),
        other => {
            let name = name_of(meta);
            let text = format!("`{name}` takes the path of a function: write `{name} = path::to::function`");
            Err(mistake(other, text))
        }
    };
    Texts => |meta| {
        let name = name_of(meta);
        let wanted = format!("`{name}` takes texts in parentheses: write `{name}(\"..\", \"..\")`");
        let Meta::List(list) = meta else { return Err(mistake(meta, wanted)) };
        let parsed = list.parse_args_with(Punctuated::<LitStr, Token![,]>::parse_terminated);
        let texts = parsed.map_err(|error| darling::Error::custom(&wanted).with_span(&error.span()))?;
        if texts.is_empty() {
            return Err(mistake(meta, wanted));
        }
        if let Some(empty) = texts.iter().find(|text| text.value().trim().is_empty()) {
            return Err(mistake(empty, format!("an empty text in `{name}` names nothing; remove it")));
        }
        Ok(Texts(texts.iter().map(LitStr::value).collect()))
    };
    Format => |meta| choice(meta, &[("json", Format::Json), ("xml", Format::Xml), ("ptype", Format::PType)]);
    Sandbox => |meta| choice(meta, &[
        ("inherit", Sandbox("Inherit")), ("disabled", Sandbox("Disabled")), ("required", Sandbox("Required")),
    ]);
    ExtraArgs => |meta| choice(meta, &[
        ("deny", ExtraArgs("Deny")), ("drop_with_notice", ExtraArgs("DropWithNotice")),
    ]);
    Workspace => |meta| {
        let variants = [("none", "None"), ("read", "Read"), ("scoped", "Scoped"), ("any", "Any")];
        let variant = choice(meta, &variants)?;
        Ok(Workspace(At { value: variant, span: text(meta, "\"read\"")?.span() }))
    };
}

const NAME_OF_TYPE: &str = "`type` takes the name of the generated type: write `type = MyTool`";
const SIZE: &str = "a size is a whole number of bytes, or one with a unit: `65536`, `\"64KiB\"`, `\"1MB\"`";

/// A text in quotes.
#[derive(Clone)]
pub(crate) struct Text(pub(crate) LitStr);

/// The generated type's name.
#[derive(Clone)]
pub(crate) struct TypeName(pub(crate) Ident);

/// The path of the crate.
#[derive(Clone)]
pub(crate) struct CratePath(pub(crate) Path);

/// A time in milliseconds, never zero.
#[derive(Clone)]
pub(crate) struct Millis(pub(crate) At<u64>);

/// A size in bytes, never zero.
#[derive(Clone, Copy)]
pub(crate) struct Bytes(pub(crate) u64);

/// A count.
#[derive(Clone)]
pub(crate) struct Count(pub(crate) At<u32>);

/// The path of a function.
#[derive(Clone)]
pub(crate) struct Function(pub(crate) ExprPath);

/// A list of texts.
#[derive(Clone, Default)]
pub(crate) struct Texts(pub(crate) Vec<String>);

/// How a tool is shown.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Format {
    /// JSON function calling.
    #[default]
    Json,
    /// XML tags.
    Xml,
    /// Ordered parameters.
    PType,
}

/// A variant of `SandboxMode`.
#[derive(Clone, Copy)]
pub(crate) struct Sandbox(pub(crate) &'static str);

/// A variant of `ExtraArgs`.
#[derive(Clone, Copy)]
pub(crate) struct ExtraArgs(pub(crate) &'static str);

/// A variant of `WorkspaceAccess`.
#[derive(Clone)]
pub(crate) struct Workspace(pub(crate) At<&'static str>);

fn choice<T: Copy>(meta: &Meta, choices: &[(&str, T)]) -> darling::Result<T> {
    let name = name_of(meta);
    let all: Vec<_> = choices.iter().map(|(word, _)| format!("\"{word}\"")).collect();
    let given = text(meta, &all.join(" | "))?;
    let value = given.value();
    choices
        .iter()
        .find(|(word, _)| *word == value)
        .map(|(_, choice)| *choice)
        .ok_or_else(|| mistake(&given, format!("`{name}` is one of {}, not \"{value}\"", all.join(", "))))
}

/// `500ms`, `30s`, `2m`, `1h`.
fn millis(text: &str) -> Result<u64, String> {
    let refused =
        || format!("`{text}` is not a time: write a whole number and a unit, `500ms`, `30s`, `2m` or `1h`");
    let (number, unit) = split_unit(text);
    let scale = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err(refused()),
    };
    match number.parse::<u64>().ok().and_then(|number| number.checked_mul(scale)) {
        Some(0) => {
            Err("a timeout of zero ends every call before it starts; leave `timeout` out for none".into())
        }
        Some(millis) => Ok(millis),
        None => Err(refused()),
    }
}

/// `65536`, `64KiB`, `1MiB`, `1kB`.
fn bytes(text: &str) -> Result<u64, String> {
    let (number, unit) = split_unit(text);
    let scale: u64 = match unit {
        "" | "B" => 1,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return Err(SIZE.into()),
    };
    match number.parse::<u64>().ok().and_then(|number| number.checked_mul(scale)) {
        Some(0) => {
            Err("a bound of zero bytes hides every result; leave the word out for the harness's bound".into())
        }
        Some(bytes) => Ok(bytes),
        None => Err(SIZE.into()),
    }
}

fn split_unit(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    (number, unit.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        let good = [("500ms", 500), ("30s", 30_000), ("2m", 120_000), ("1h", 3_600_000), ("5 s", 5_000)];
        for (text, expected) in good {
            assert_eq!(millis(text), Ok(expected), "{text}");
        }
        for text in
            ["", "30", "s", "1.5s", "-1s", "30 seconds", "99999999999999999999s", "9999999999999999999h"]
        {
            assert!(millis(text).is_err_and(|reason| reason.contains("is not a time")), "{text}");
        }
        assert!(millis("0s").is_err_and(|reason| reason.contains("zero")));
    }

    #[test]
    fn sizes_are_binary_or_decimal() {
        let good = [
            ("65536", 65_536),
            ("64KiB", 65_536),
            ("1MiB", 1_048_576),
            ("1kB", 1_000),
            ("2 GB", 2_000_000_000),
        ];
        for (text, expected) in good {
            assert_eq!(bytes(text), Ok(expected), "{text}");
        }
        for text in ["", "KiB", "64kib", "1.5MB", "64 KiBs", "99999999999GiB"] {
            assert!(bytes(text).is_err(), "{text}");
        }
        assert!(bytes("0").is_err_and(|reason| reason.contains("zero")));
    }
}
