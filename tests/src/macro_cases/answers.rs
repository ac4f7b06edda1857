//! The first line of a compiler's answer says what is wrong, and what to write instead.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The answer to a program that does not compile.
fn answer(program: &str) -> String {
    let path = root().join(format!("ui-tests/fail/{program}.stderr"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn first_line(program: &str) -> String {
    answer(program).lines().next().unwrap_or_default().to_owned()
}

fn errors(program: &str) -> usize {
    answer(program).lines().filter(|line| line.starts_with("error")).count()
}

#[test]
fn m04_a_stream_of_borrowed_items_is_answered_at_the_functions_name() {
    let answer = answer("async/m04_stream_of_borrowed_items");
    assert_eq!(errors("async/m04_stream_of_borrowed_items"), 2, "one for each tool");
    for name in ["owned", "lent"] {
        let (_, from) = answer.split_once(&format!("async fn {name}(")).unwrap();
        let under = from.lines().nth(1).unwrap();
        assert!(under.contains(&"^".repeat(name.len())), "{under}");
    }
}

#[test]
fn m05_a_method_names_the_attribute_that_is_missing() {
    let line = first_line("methods/m05_without_tools");
    assert!(line.contains("`#[tools]`"), "{line}");
    assert_eq!(errors("methods/m05_without_tools"), 1);
    // Without `self` nothing tells the macro where the function stands, so the compiler speaks first.
    assert!(first_line("tools/associated_function").contains("not supported in `trait`s or `impl`s"));
}

#[test]
fn m06_a_macro_call_in_the_block_is_refused() {
    let line = first_line("methods/m06_macro_call");
    assert!(line.contains("cannot see what `mk!` writes here"), "{line}");
}

#[test]
fn m07_a_generic_tool_is_one_error_at_the_parameter() {
    let line = first_line("generics/type_parameter");
    assert!(line.starts_with("error: generic tools are not supported: "), "{line}");
    assert!(!answer("generics/type_parameter").contains("E0425"));
}

#[test]
fn m08_a_manifest_with_this_crate_alone_is_enough() {
    let manifest = fs::read_to_string(root().join("ui-tests/fixtures/bare/Cargo.toml")).unwrap();
    let (_, dependencies) = manifest.split_once("[dependencies]\n").unwrap();
    let names: Vec<_> =
        dependencies.lines().filter_map(|line| line.split_once(" =")).map(|(name, _)| name).collect();
    assert_eq!(names, ["tinyagents"], "checked by the tests of `ui-tests`");
}

#[test]
fn m11_a_name_for_people_gets_one_for_models() {
    let line = first_line("names/not_snake_case");
    assert!(line.contains("`a-z`, `0-9` and `_`"), "{line}");
    assert!(line.contains("write `name = \"dockerfile_problems_scanner\"`"), "{line}");
}

#[test]
fn m21_a_type_without_a_schema_names_the_version_to_derive_it_with() {
    let answer = answer("args/no_schema");
    assert!(answer.starts_with("error[E0277]: `Vec<Plain>` cannot be a parameter that the model chooses"));
    assert!(answer.contains("schemars 1.x") && answer.contains("`tinyagents::schemars`"), "{answer}");
}

#[test]
fn m27_one_import_is_enough() {
    for folder in ["ui-tests/fixtures/bare/src/lib.rs", "ui-tests/pass/tools/smallest.rs"] {
        let program = fs::read_to_string(root().join(folder)).unwrap();
        let imports: Vec<_> = program.lines().filter(|line| line.starts_with("use ")).collect();
        assert_eq!(imports, ["use tinyagents::prelude::*;"], "{folder}");
    }
}

#[test]
fn m37_every_program_of_the_documentation_is_compiled() {
    for file in ["README.md", "tinyagents/docs/guide.md", "tinyagents-macros/docs/tool.md"] {
        let text = fs::read_to_string(root().join(file)).unwrap();
        let opened: Vec<_> = text.lines().filter(|line| line.starts_with("```") && line.len() > 3).collect();
        assert!(opened.contains(&"```rust"), "{file}");
        for fence in opened.iter().filter(|fence| fence.contains("rust")) {
            assert!(!fence.contains("ignore"), "{file}: {fence}");
        }
    }
}

#[test]
fn m46_a_path_and_a_rename_both_lead_to_the_crate() {
    let fixture = |name: &str, file: &str| {
        fs::read_to_string(root().join(format!("ui-tests/fixtures/{name}/{file}"))).unwrap()
    };
    assert!(fixture("renamed", "Cargo.toml").contains("agents = { package = \"tinyagents\""));
    assert!(!fixture("renamed", "src/lib.rs").contains("crate ="));
    assert!(fixture("inherited", "src/lib.rs").contains("#[tool(read_only, crate = kit)]"));
}

#[test]
fn more_a_newcomers_first_try_is_one_error_that_says_what_is_missing() {
    let line = first_line("docs/no_description");
    assert!(line.contains("has no description") && line.contains("`/// ...`"), "{line}");
    assert_eq!(errors("docs/no_description"), 1);
}

#[test]
fn more_a_default_that_does_not_compile_is_one_error() {
    assert_eq!(first_line("args/broken_default"), "error[E0425]: cannot find value `MOST` in this scope");
    assert_eq!(errors("args/broken_default"), 1);
}

#[test]
fn more_names_that_are_too_long_or_not_ascii_are_refused() {
    assert!(first_line("names/too_long").contains("has 77 bytes"));
    assert!(first_line("names/not_ascii").contains("`größe`"));
}

#[test]
fn more_a_type_named_like_the_tool_is_answered_by_the_compiler() {
    assert!(first_line("names/clash_with_type").starts_with("error[E0428]"));
}

#[test]
fn more_half_typed_code_keeps_the_function() {
    for program in ["hygiene/other_uses_still_resolve", "hygiene/mistake_in_the_body", "args/missing_type"] {
        assert_eq!(errors(program), 1, "{program}");
    }
}

#[test]
fn more_strict_callers_are_checked() {
    let program = fs::read_to_string(root().join("ui-tests/fixtures/strict/src/lib.rs")).unwrap();
    let denied = program.lines().find(|line| line.starts_with("#![deny(")).unwrap();
    assert!(["missing_docs", "unused", "clippy::pedantic"].iter().all(|lint| denied.contains(lint)));
}
