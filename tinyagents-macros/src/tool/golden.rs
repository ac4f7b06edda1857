//! What the macro writes for typical functions, kept as files that are reviewed like code.
//!
//! `BLESS=1 cargo test -p tinyagents-macros` writes them anew.

#![allow(clippy::expect_used, clippy::panic, reason = "a test that cannot go on says why")]

use std::path::Path;

use proc_macro2::TokenStream;
use quote::quote;

fn compare(name: &str, expansion: TokenStream) {
    let file = syn::parse2(expansion).expect("the expansion is a list of items");
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
    compare("smallest", super::expand(quote!(read_only), item));
}

/// Compiled once for each of a user's tools: the promise of the expansion's size.
#[test]
fn a_small_tool_is_at_most_sixty_lines() {
    let functions = [
        quote! {
            fn add(a: i64, b: i64) -> i64 {
                a + b
            }
        },
        quote! {
            async fn add(a: i64, b: i64) -> i64 {
                a + b
            }
        },
    ];
    for function in functions {
        let own = lines(function.clone());
        let item = quote! {
            /// Add two numbers.
            #function
        };
        let written = lines(super::expand(quote!(read_only), item));
        let beside = written - own - 1;
        assert!(beside <= 60, "{beside} lines beside the function");
    }
}

fn lines(items: TokenStream) -> usize {
    let file = syn::parse2(items).expect("a list of items");
    prettyplease::unparse(&file).lines().count()
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
    let words = quote!(read_only, sandbox = "required", timeout = "10s");
    compare("injected", super::expand(words, item));
}

#[test]
fn defaulted_and_constrained() {
    let item = quote! {
        /// Reads a file.
        ///
        /// # Arguments
        ///
        /// * `path` - where it is, below the workspace
        fn read_file(
            path: &Path,
            #[arg(default = 200, range = 1..=5_000)] lines: u32,
            #[arg(default = "utf-8", one_of = ["utf-8", "latin-1"], description = "How its bytes are read.")]
            encoding: String,
            #[arg(name = "type", default)] kind: Option<Kind>,
            #[arg(with = seconds, alias = "from", len = ..=64, pattern = "^[0-9]+s$", example = "5s", redact)]
            since: Option<Duration>,
        ) -> String {
            read(path, lines, &encoding, kind, since)
        }
    };
    let words = quote!(read_only, workspace = "read", format = "ptype");
    compare("defaulted_and_constrained", super::expand(words, item));
}

#[test]
fn recursive() {
    let item = quote! {
        /// Ask a second model.
        async fn ask(question: String, #[inject] harness: &Harness) -> Result<String, ToolError> {
            harness.ask(question).await
        }
    };
    let words = quote!(
        recursive,
        network,
        concurrency = 4,
        effect = class_of,
        grant_keys = keys_of,
        return_direct,
        polling
    );
    compare("recursive", super::expand(words, item));
}

#[test]
fn method() {
    let item = quote! {
        impl GitHub {
            /// Lists the open issues of a repository.
            #[tool(read_only)]
            async fn issues(&self, repo: String, #[inject] log: &Log) -> Result<Vec<Issue>, ApiError> {
                self.api(log).issues(&repo).await
            }

            fn api(&self, log: &Log) -> Api {
                Api::new(&self.url, log)
            }
        }
    };
    compare("method", crate::tools::expand(quote!(), item));
}
