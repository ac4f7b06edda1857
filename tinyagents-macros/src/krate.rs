//! How the crate `tinyagents` is called where the macro is used: the single authority.
//!
//! Guarantee: every path in generated code starts with [`Krate`], so no name that a user shadows matters.
//!
//! A `crate = path` in the attribute wins. Otherwise the user's `Cargo.toml` is scanned for a dependency that
//! renames the package; reading one file line by line replaces eight crates that would do it in general. What
//! the scan does not understand (a rename inherited from the workspace's manifest) needs `crate = path`.

use std::path::Path as FilePath;
use std::sync::OnceLock;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::Path;

const PACKAGE: &str = "tinyagents";

/// The path of the crate.
#[derive(Clone)]
pub(crate) struct Krate(TokenStream);

impl Krate {
    /// The path that the user gave, or else the one that `Cargo.toml` implies.
    pub(crate) fn new(given: Option<&Path>) -> Self {
        if let Some(path) = given {
            return Self(path.to_token_stream());
        }
        static NAME: OnceLock<String> = OnceLock::new();
        let name = NAME.get_or_init(|| renamed().unwrap_or_else(|| PACKAGE.to_owned()));
        let name = Ident::new(name, Span::call_site());
        Self(quote!(::#name))
    }
}

impl ToTokens for Krate {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.0.to_tokens(tokens);
    }
}

fn renamed() -> Option<String> {
    let folder = std::env::var_os("CARGO_MANIFEST_DIR")?;
    dependency_key(&std::fs::read_to_string(FilePath::new(&folder).join("Cargo.toml")).ok()?)
}

/// The name under which a manifest depends on the package, if that is not the package's own.
fn dependency_key(manifest: &str) -> Option<String> {
    let mut section = Section::Other;
    let mut renamed = None;
    for line in manifest.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            section = Section::of(header.split(']').next().unwrap_or_default());
            if matches!(&section, Section::Dependency(key) if key == PACKAGE) {
                return None;
            }
            continue;
        }
        let Some((key, value)) = line.split_once('=') else { continue };
        let key = unquoted(key);
        match &section {
            Section::Dependencies => {
                // Both `tinyagents = ..` and `tinyagents.workspace = true`.
                if key.split('.').next() == Some(PACKAGE) {
                    return None;
                }
                if renames(value) {
                    renamed = Some(key.to_owned());
                }
            }
            Section::Dependency(name) if key == "package" && unquoted(value) == PACKAGE => {
                renamed = Some(name.clone());
            }
            _ => {}
        }
    }
    renamed.map(|key| key.replace('-', "_")).filter(|key| syn::parse_str::<Ident>(key).is_ok())
}

/// What a table of the manifest holds.
enum Section {
    /// `[dependencies]` and its kin.
    Dependencies,
    /// `[dependencies.key]`.
    Dependency(String),
    /// Anything else.
    Other,
}

impl Section {
    fn of(header: &str) -> Self {
        for kind in ["dev-dependencies", "dependencies"] {
            if header == kind || (header.starts_with("target.") && header.ends_with(&format!(".{kind}"))) {
                return Self::Dependencies;
            }
            if let Some(key) = header.strip_prefix(kind).and_then(|rest| rest.strip_prefix('.')) {
                return Self::Dependency(unquoted(key).to_owned());
            }
        }
        Self::Other
    }
}

/// Whether an inline table names the package.
fn renames(table: &str) -> bool {
    table
        .split(['{', ',', '}'])
        .filter_map(|entry| entry.split_once('='))
        .any(|(key, value)| unquoted(key) == "package" && unquoted(value) == PACKAGE)
}

fn unquoted(text: &str) -> &str {
    text.split('#').next().unwrap_or_default().trim().trim_matches(['"', '\''])
}

#[cfg(test)]
mod tests {
    use super::dependency_key;

    fn key(manifest: &str) -> Option<String> {
        dependency_key(manifest)
    }

    #[test]
    fn a_plain_dependency_is_no_rename() {
        assert_eq!(key("[dependencies]\ntinyagents = \"0.1\"\n"), None);
        assert_eq!(key("[dependencies]\ntinyagents.workspace = true\n"), None);
        assert_eq!(key("[dependencies.tinyagents]\npath = \"..\"\n"), None);
        assert_eq!(key("[package]\nname = \"tinyagents\"\n"), None);
    }

    #[test]
    fn a_rename_is_found_in_every_spelling() {
        let inline = "[dependencies]\nagents-kit = { package = \"tinyagents\", version = \"0.1\" } # why\n";
        assert_eq!(key(inline).as_deref(), Some("agents_kit"));
        let table = "[dev-dependencies.kit]\npath = \"x\"\npackage = 'tinyagents' # why\n";
        assert_eq!(key(table).as_deref(), Some("kit"));
        let target = "[target.'cfg(unix)'.dependencies]\nkit = { path = \"x\", package = \"tinyagents\" }\n";
        assert_eq!(key(target).as_deref(), Some("kit"));
    }

    #[test]
    fn the_plain_name_wins_over_a_rename() {
        let both = "[dependencies]\nkit = { package = \"tinyagents\" }\ntinyagents = \"0.1\"\n";
        assert_eq!(key(both), None);
    }

    #[test]
    fn other_packages_do_not_count() {
        assert_eq!(key("[dependencies]\nkit = { package = \"tinyagents-extra\" }\n"), None);
        assert_eq!(key("[features]\nkit = [\"package = tinyagents\"]\n"), None);
    }
}
