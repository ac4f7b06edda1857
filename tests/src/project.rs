//! The layout of the project.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The rooms in the order a call walks through them, as `harness/mod.rs` lists them.
fn rooms() -> Vec<String> {
    let list = read("tinyagents/src/harness/mod.rs");
    list.lines()
        .filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'))
        .map(String::from)
        .collect()
}

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn a_room_uses_only_what_stands_above_it() {
    let rooms = rooms();
    assert!(rooms.len() > 10, "{rooms:?}");
    let harness = root().join("tinyagents/src/harness");
    let mut wrong = Vec::new();
    for (level, room) in rooms.iter().enumerate() {
        let mut files = Vec::new();
        match harness.join(room) {
            dir if dir.is_dir() => sources(&dir, &mut files),
            _ => files.push(harness.join(format!("{room}.rs"))),
        }
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
                for below in &rooms[level + 1..] {
                    if line.contains(&format!("harness::{below}::"))
                        || line.contains(&format!("super::{below}::"))
                    {
                        wrong.push(format!("{}: {line}", file.display()));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "a room uses what stands below it:\n{}", wrong.join("\n"));
}

#[test]
fn files_are_short_enough_to_read() {
    let mut files = Vec::new();
    for dir in ["tinyagents/src", "tinyagents-macros/src", "examples"] {
        sources(&root().join(dir), &mut files);
    }
    for file in files {
        let lines = std::fs::read_to_string(&file).unwrap().lines().count();
        assert!(lines <= 600, "{}: {lines} lines", file.display());
    }
}

#[test]
fn c08_the_packages_of_the_mission_are_direct_dependencies() {
    let metadata = std::process::Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let direct: BTreeSet<_> = metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|package| package["dependencies"].as_array().unwrap())
        .map(|dependency| dependency["name"].as_str().unwrap())
        .collect();
    for name in [
        "syn",
        "quote",
        "proc-macro2",
        "darling",
        "schemars",
        "serde",
        "serde_json",
        "tokio",
        "async-trait",
        "trybuild",
    ] {
        assert!(direct.contains(name), "{name} is a direct dependency of no crate");
    }
}

#[test]
fn c09_the_top_holds_the_crates_and_what_tools_insist_on() {
    let allowed = [
        "Cargo.toml",
        "Cargo.lock",
        "README.md",
        "CONTRIBUTING.md",
        "LICENSE-MIT",
        "LICENSE-APACHE",
        "tinyagents",
        "tinyagents-macros",
        "tests",
        "ui-tests",
        "examples",
        "justfile",
        "deny.toml",
        "clippy.toml",
        "rustfmt.toml",
        "rust-toolchain.toml",
        "target",
    ];
    for entry in std::fs::read_dir(root()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(
            name.starts_with('.') || allowed.contains(&name.as_str()),
            "{name} does not belong at the top"
        );
    }
}

#[test]
fn the_readme_is_short_and_shows_the_smallest_tool() {
    let readme = read("README.md");
    assert!(readme.lines().count() < 200);
    let (_, smallest) = readme.split_once("## The smallest tool").unwrap();
    let block = smallest.split("```").nth(1).unwrap();
    let tool: Vec<_> = block
        .lines()
        .skip_while(|line| !line.starts_with("///"))
        .take_while(|line| !line.starts_with("assert"))
        .filter(|line| !line.trim().is_empty())
        .collect();
    assert!(tool.len() <= 8, "{tool:?}");
    assert!(
        tool[0].starts_with("/// ") && tool[1].starts_with("#[tool("),
        "a description and a policy: {tool:?}"
    );
    let written = read("ui-tests/expand/smallest.rs");
    let function: String = tool[2..].iter().map(|line| format!("{line}\n")).collect();
    assert!(written.contains(&function), "what the macro writes for it is kept");
    for command in ["cargo run --example quickstart", "cargo test --workspace"] {
        assert!(readme.contains(command), "{command}");
    }
}
