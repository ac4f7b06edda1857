//! The grammar: the words of `#[tool(..)]` and of a parameter's `#[arg(..)]`.
//!
//! Guarantee: what comes out was written once, is known, and has a readable value.
//!
//! Not here: contradictions between words (`check`).

use darling::FromMeta;
use proc_macro2::{Span, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, Lit, LitStr, Meta};

use super::limits::{Aliases, Choices, Example, Length, Pattern, Range};
use super::values::{
    Bytes, Count, CratePath, ExtraArgs, Format, Function, Millis, Sandbox, Text, Texts, TypeName, Workspace,
};
use crate::diag::Diag;
use crate::words::{Flag, Grammar, name_of, nearest, ungrouped};

const TOOL: Grammar = Grammar {
    attribute: "#[tool]",
    words: &[
        "name",
        "description",
        "type",
        "crate",
        "format",
        "read_only",
        "writes_files",
        "network",
        "installs_dependencies",
        "destructive",
        "external_service",
        "payment",
        "process",
        "effect",
        "sandbox",
        "timeout",
        "retries",
        "idempotent",
        "max_result_bytes",
        "concurrency",
        "inline",
        "recursive",
        "streaming",
        "cancelable",
        "return_direct",
        "polling",
        "extra_args",
        "workspace",
        "trusted_roots",
        "credentials",
        "approval_required",
        "background_safe",
        "grant_keys",
        "redact",
    ],
};

const ARG: Grammar = Grammar {
    attribute: "#[arg]",
    words: &[
        "default",
        "name",
        "description",
        "range",
        "len",
        "pattern",
        "format",
        "one_of",
        "example",
        "alias",
        "redact",
        "flatten",
        "with",
        "schema_with",
        "not_secret",
    ],
};

/// The words of `#[tool(..)]`.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct ToolWords {
    pub(crate) name: Option<Text>,
    pub(crate) description: Option<Text>,
    #[darling(rename = "type")]
    pub(crate) type_name: Option<TypeName>,
    #[darling(rename = "crate")]
    pub(crate) krate: Option<CratePath>,
    pub(crate) format: Format,
    pub(crate) inline: Flag,
    pub(crate) recursive: Flag,
    pub(crate) effect: Option<Function>,
    pub(crate) grant_keys: Option<Function>,
    #[darling(flatten)]
    pub(crate) policy: PolicyWords,
}

/// The words that declare the policy: any one of them makes it classified.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct PolicyWords {
    pub(crate) read_only: Flag,
    pub(crate) writes_files: Flag,
    pub(crate) network: Flag,
    pub(crate) installs_dependencies: Flag,
    pub(crate) destructive: Flag,
    pub(crate) external_service: Flag,
    pub(crate) payment: Flag,
    pub(crate) process: Flag,
    pub(crate) sandbox: Option<Sandbox>,
    pub(crate) timeout: Option<Millis>,
    pub(crate) retries: Option<Count>,
    pub(crate) idempotent: Flag,
    pub(crate) max_result_bytes: Option<Bytes>,
    pub(crate) streaming: Flag,
    pub(crate) cancelable: Flag,
    pub(crate) concurrency: Option<Count>,
    pub(crate) return_direct: Flag,
    pub(crate) polling: Flag,
    pub(crate) extra_args: Option<ExtraArgs>,
    pub(crate) workspace: Option<Workspace>,
    pub(crate) trusted_roots: Texts,
    pub(crate) credentials: Texts,
    pub(crate) approval_required: Flag,
    pub(crate) background_safe: Flag,
    pub(crate) redact: Texts,
}

/// The words of `#[arg(..)]`.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct ArgWords {
    pub(crate) name: Option<Text>,
    pub(crate) description: Option<Text>,
    pub(crate) default: Option<DefaultValue>,
    pub(crate) range: Option<Range>,
    pub(crate) len: Option<Length>,
    pub(crate) pattern: Option<Pattern>,
    pub(crate) format: Option<Text>,
    pub(crate) one_of: Option<Choices>,
    pub(crate) example: Option<Example>,
    pub(crate) alias: Aliases,
    pub(crate) redact: Flag,
    pub(crate) flatten: Flag,
    pub(crate) with: Option<Function>,
    pub(crate) schema_with: Option<Function>,
    pub(crate) not_secret: Flag,
    /// Every word and where it stands.
    #[darling(skip)]
    pub(crate) given: Vec<(String, Span)>,
}

/// What a parameter is when the model leaves it out.
pub(crate) enum DefaultValue {
    /// The type's own default.
    OfType,
    /// A text, which becomes whatever the type makes of it.
    Text(LitStr),
    /// An expression of the parameter's type.
    Value(Expr),
}

impl FromMeta for DefaultValue {
    fn from_meta(meta: &Meta) -> darling::Result<Self> {
        match meta {
            Meta::Path(_) => Ok(Self::OfType),
            Meta::NameValue(pair) => Ok(match ungrouped(&pair.value) {
                Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Self::Text(text.clone()),
                value => Self::Value(value.clone()),
            }),
            Meta::List(list) => {
                let text = "write `default = ..` with a value, or `default` for the type's own";
                Err(crate::words::mistake(list, text))
            }
        }
    }
}

/// The words of `#[tool(..)]` as far as they were understood.
pub(crate) struct Read {
    pub(crate) words: ToolWords,
    /// Whether any word declares a policy.
    pub(crate) classified: bool,
    /// Whether every word was understood; else a missing one may only be misspelt.
    pub(crate) whole: bool,
    /// Whether a word that was not understood may be `description`.
    pub(crate) may_describe: bool,
}

/// Reads the words of `#[tool(..)]`. Those with mistakes are reported and left out.
pub(crate) fn tool(tokens: TokenStream, diag: &mut Diag) -> Read {
    let names = tokens.clone().into_iter().filter_map(|token| match token {
        TokenTree::Ident(ident) => Some(ident.to_string()),
        _ => None,
    });
    let may_describe = names.into_iter().any(|name| nearest(&name, TOOL.words) == Some("description"));
    let words = TOOL.read(tokens, diag);
    let classified = words.iter().any(|word| !WITHOUT_POLICY.iter().any(|other| word.path().is_ident(other)));
    let words = typed(words, diag);
    Read { words, classified, whole: diag.is_clean(), may_describe }
}

/// Words that say nothing of the policy.
const WITHOUT_POLICY: &[&str] = &["name", "description", "type", "crate", "format", "inline"];

/// Reads the words of `#[arg(..)]`. Those with mistakes are left out.
pub(crate) fn arg(tokens: TokenStream, diag: &mut Diag) -> ArgWords {
    let words = ARG.read(tokens, diag);
    let given = words.iter().map(|word| (name_of(word), word.path().span())).collect();
    ArgWords { given, ..typed(words, diag) }
}

/// Gives each word its type; a word that has the wrong value is reported and left out.
fn typed<T: FromMeta + Default>(words: Vec<Meta>, diag: &mut Diag) -> T {
    let mut good = Vec::new();
    for word in words {
        match T::from_list(&[darling::ast::NestedMeta::Meta(word.clone())]) {
            Ok(_) => good.push(darling::ast::NestedMeta::Meta(word)),
            Err(error) => diag.push(error.into()),
        }
    }
    T::from_list(&good).unwrap_or_default()
}
