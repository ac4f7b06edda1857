//! Programs that must compile, and run, and programs that must not, with the compiler's answer.
//!
//! Topics are folders; `README.md` says how to add a program and lists every mistake with its error. What the
//! macro writes is kept under `expand/`, compared by the tests of `tinyagents-macros`.

mod answers;
mod fixtures;
mod refusals;

use std::path::{Path, PathBuf};
use std::{env, fs};

/// Each program asserts by value what the macro made of it.
#[test]
fn programs_that_compile() {
    trybuild::TestCases::new().pass("pass/*/*.rs");
}

/// Each answer names the reason and the way out, and stands in the table of `README.md`.
#[test]
fn programs_that_do_not_compile() {
    // The cases run when the value is dropped, here: before the answers are read for the table.
    trybuild::TestCases::new().compile_fail("fail/*/*.rs");
    compare_table();
}

/// The table is what the programs and their answers say; `BLESS=1` writes it anew.
fn compare_table() {
    const HEAD: &str = "| mistake | the error begins |\n| --- | --- |\n";
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let text = fs::read_to_string(&readme).expect("README.md can be read");
    let (before, _) = text.split_once(HEAD).expect("README.md has the table, as its end");
    let rows: String = programs("fail").iter().map(|program| row(program)).collect();
    let expected = format!("{before}{HEAD}{rows}");
    if env::var_os("BLESS").is_some() {
        fs::write(&readme, &expected).expect("README.md can be written");
    } else {
        assert!(text == expected, "README.md is out of date: run with BLESS=1\n{expected}");
    }
}

fn row(program: &Path) -> String {
    let text = fs::read_to_string(program).expect("a program can be read");
    let mistake = text.lines().next().unwrap_or_default().trim_start_matches("//! ").trim_end_matches('.');
    let answer = fs::read_to_string(program.with_extension("stderr")).expect("every program has its answer");
    // A bar would end the cell.
    let error = first_error(&answer).replace('|', "\\|");
    let name = name_of(program);
    format!("| [{name}](fail/{name}.rs): {mistake} | {error} |\n")
}

/// The first error of an answer.
fn first_error(answer: &str) -> &str {
    answer.lines().find(|line| line.starts_with("error")).expect("an answer has an error")
}

/// A program's topic and name.
fn name_of(program: &Path) -> String {
    let folder = program.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    let name = program.file_stem().unwrap_or_default().to_string_lossy();
    format!("{folder}/{name}")
}

fn programs(kind: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(kind);
    let list = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).expect("a folder can be listed");
        let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry can be read").path()).collect();
        paths.sort();
        paths
    };
    let topics = list(&folder).into_iter().filter(|path| path.is_dir());
    topics
        .flat_map(|topic| list(&topic))
        .filter(|path| path.extension().is_some_and(|end| end == "rs"))
        .collect()
}
