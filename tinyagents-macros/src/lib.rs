//! The attributes `#[tool]`, `#[tools]` and `#[tool_type]`, the macro behind `toolset![..]`, and the `ToolState` derive.
//! Use them through `tinyagents`, which re-exports them.
//!
//! Guarantee: what cannot work does not compile, each mistake is reported once at the word that causes it, and
//! all mistakes of one item are reported together.
//!
//! Not here: anything that runs in a user's program; generated code calls `tinyagents::__private` for that.

mod diag;
mod docs;
mod krate;
mod state;
mod tool;
mod tool_type;
mod tools;
mod toolset;
mod words;

use proc_macro::TokenStream;

#[doc = include_str!("../docs/tool.md")]
#[proc_macro_attribute]
pub fn tool(words: TokenStream, item: TokenStream) -> TokenStream {
    let kept = proc_macro2::TokenStream::from(item.clone());
    diag::guarded("#[tool]", kept, || tool::expand(words.into(), item.into())).into()
}

/// Makes the methods of an impl block that have `#[tool]` tools of one set.
///
/// The methods take `&self`, `self: &Arc<Self>`, `self: Arc<Self>`, or no `self`; everything that `#[tool]` reads on a
/// function it reads on them. The block stays as it is. Beside it the attribute writes, for `impl GitHub` with the
/// tool `issues`:
///
/// - `GitHub::tools(self: &Arc<Self>)`, which gives a `Toolset` for every state that provides what the methods inject.
///   It is as visible as the most visible of the tools. `#[tools(pub fn issue_tools)]` gives it another name and
///   visibility: two blocks of one type need two names.
/// - `struct GitHubIssues(Arc<GitHub>)`: the tool by itself, with `NAME`, `PARAMETERS`, `policy()` and `spec()`. Its name
///   is the owner's and the method's, `#[tool(type = OtherName)]` gives it another; its visibility is the method's.
///
/// `#[tools(crate = path)]` holds for the tools of the block too. Generic blocks, trait impls, and macro calls in the
/// block are refused.
#[proc_macro_attribute]
pub fn tools(words: TokenStream, item: TokenStream) -> TokenStream {
    let kept = proc_macro2::TokenStream::from(item.clone());
    diag::guarded("#[tools]", kept, || tools::expand(words.into(), item.into())).into()
}

/// Makes a struct or an enum something that tools take and give back.
///
/// Derives `Serialize`, `Deserialize` and `JsonSchema` through the copies of `tinyagents`, so that neither serde nor
/// schemars need stand in `Cargo.toml`. All three, so that one type serves as an argument, as a default and as a
/// result. The object takes no unknown key (`#[serde(deny_unknown_fields)]`), also in the variants of an enum, unless a
/// field has `#[serde(flatten)]` or the type is read through another (`transparent`, `from`, `try_from`).
///
/// Doc comments become descriptions; `#[serde(..)]` and `#[schemars(..)]` on the type, its fields and its variants work
/// as ever; but a model is shown a field's own name only, and a call that uses its `#[serde(alias)]` is refused. Other
/// derives go below the attribute. `#[tool_type(crate = path)]` names another path of `tinyagents`.
#[proc_macro_attribute]
pub fn tool_type(words: TokenStream, item: TokenStream) -> TokenStream {
    let kept = proc_macro2::TokenStream::from(item.clone());
    diag::guarded("#[tool_type]", kept, || tool_type::expand(words.into(), item.into())).into()
}

#[doc(hidden)]
#[proc_macro]
pub fn toolset(entries: TokenStream) -> TokenStream {
    let nothing = proc_macro2::TokenStream::new();
    diag::guarded("toolset!", nothing, || toolset::expand(entries.into())).into()
}

/// Makes a state struct provide each of its fields to tools that inject `&FieldType`.
///
/// `#[state(skip)]` leaves a field out; of two fields with one type, all but one need it.
#[proc_macro_derive(ToolState, attributes(state))]
pub fn tool_state(item: TokenStream) -> TokenStream {
    let nothing = proc_macro2::TokenStream::new();
    diag::guarded("#[derive(ToolState)]", nothing, || state::expand(item.into())).into()
}
