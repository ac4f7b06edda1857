//! What the macro writes for typical functions, kept as files that are reviewed like code.
//!
//! `BLESS=1 cargo test -p tinyagents-macros` writes them anew.

#![allow(clippy::expect_used, clippy::panic, reason = "a test that cannot go on says why")]

use std::path::Path;

use proc_macro2::TokenStream;
use quote::quote;

fn compare(name: &str, words: TokenStream, item: TokenStream) {
    let file = syn::parse2(super::expand(words, item)).expect("the expansion is a list of items");
    let written = prettyplease::unparse(&file);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ui-tests/expand");
    let path = folder.join(name).with_extension("rs");
    if std::env::var_os("BLESS").is_some() {
        std::fs::create_dir_all(&folder).expect("the folder can be made");
        std::fs::write(&path, &written).expect("the file can be written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    if kept != written {
        panic!(
            "{} differs; if that is meant, run with BLESS=1. The macro writes:\n{written}",
            path.display()
        );
    }
}

#[test]
fn smallest() {
    let item = quote! {
        /// Add two numbers.
        fn add(a: i64, b: i64) -> i64 {
            a + b
        }
    };
    compare("smallest", quote!(read_only), item);
}

#[test]
fn injected() {
    let item = quote! {
        /// Search the document index and return the best matches.
        pub async fn search(
            /// Words to look for.
            query: &str,
            #[inject] index: &Index,
            #[inject] cancel: CancellationToken,
        ) -> Result<Vec<Hit>, SearchError> {
            index.search(query, cancel).await
        }
    };
    compare("injected", quote!(read_only, sandbox = "required", timeout = "10s"), item);
}

#[test]
fn defaulted() {
    let item = quote! {
        /// Reads a file.
        ///
        /// # Arguments
        ///
        /// * `path` - where it is, below the workspace
        fn read_file(
            path: &Path,
            #[arg(default = 200)] lines: u32,
            #[arg(default = "utf-8", description = "How its bytes are read.")] encoding: String,
            #[arg(name = "type", default)] kind: Option<Kind>,
        ) -> String {
            read(path, lines, &encoding, kind)
        }
    };
    compare("defaulted", quote!(read_only, workspace = "read", format = "ptype"), item);
}
