//! What each keyword means, decided by JSON-Schema-Test-Suite: the subset, and everything.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tinyagents::harness::tool::{SchemaResources, Validation, Validator};

const SUBSET: [&str; 6] = ["type", "properties", "required", "additionalProperties", "items", "enum"];

/// Where the whole suite is, if it is beside the repository.
fn whole_suite() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpora/json-schema-test-suite");
    folder.is_dir().then_some(folder)
}

fn json_file(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The files that every reader of draft 2020-12 must pass, and whether they are the whole suite.
fn required_files() -> (Vec<PathBuf>, bool) {
    let (folder, is_whole) = match whole_suite() {
        Some(suite) => (suite.join("tests/draft2020-12"), true),
        None => {
            println!("the whole suite is not beside the repository; running the extract");
            (Path::new(env!("CARGO_MANIFEST_DIR")).join("data/json-schema-test-suite"), false)
        }
    };
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "json")).collect();
    files.sort();
    (files, is_whole)
}

/// The schemas that the suite refers to, by the addresses that it gives them.
fn remotes() -> SchemaResources {
    fn add(folder: &Path, uri: &str, resources: &mut SchemaResources) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let uri = format!("{uri}/{}", path.file_name().unwrap().to_str().unwrap());
            if path.is_dir() {
                add(&path, &uri, resources);
            } else {
                resources.add(uri, json_file(&path));
            }
        }
    }
    let mut resources = SchemaResources::new();
    if let Some(suite) = whole_suite() {
        add(&suite.join("remotes"), "http://localhost:1234", &mut resources);
    }
    resources
}

/// Whether a schema uses only the six keywords, or is a boolean.
pub(crate) fn in_subset(schema: &Value) -> bool {
    let Value::Object(object) = schema else { return schema.is_boolean() };
    object.iter().all(|(keyword, value)| match keyword.as_str() {
        "$schema" => true,
        "properties" => value.as_object().is_some_and(|schemas| schemas.values().all(in_subset)),
        "items" | "additionalProperties" => in_subset(value),
        other => SUBSET.contains(&other),
    })
}

/// Runs the groups of a file; gives how many tests ran, and every one whose verdict is not the suite's.
fn run(
    file: &Path,
    compile: impl Fn(&Value) -> Result<Validator, String>,
    wanted: impl Fn(&Value) -> bool,
) -> (usize, Vec<String>) {
    let (mut ran, mut wrong) = (0, Vec::new());
    for group in json_file(file).as_array().unwrap().iter().filter(|group| wanted(&group["schema"])) {
        let validator = compile(&group["schema"]);
        for test in group["tests"].as_array().unwrap() {
            ran += 1;
            let name = format!("{}: {}: {}", file.display(), group["description"], test["description"]);
            match &validator {
                Err(error) => wrong.push(format!("{name}: {error}")),
                Ok(validator) => {
                    let verdict = validator.validate(&test["data"]);
                    if verdict.is_ok() != test["valid"] {
                        wrong.push(format!("{name}: {verdict:?}"));
                    }
                }
            }
        }
    }
    (ran, wrong)
}

fn subset_files() -> (Vec<PathBuf>, bool) {
    let (mut files, is_whole) = required_files();
    files.retain(|file| SUBSET.iter().any(|keyword| file.file_stem().unwrap() == *keyword));
    assert_eq!(files.len(), SUBSET.len());
    (files, is_whole)
}

#[test]
fn the_subset_means_what_the_suite_says() {
    let (files, is_whole) = subset_files();
    let (mut ran, mut wrong) = (0, Vec::new());
    for file in files {
        let compile = |schema: &Value| {
            Validator::compile(schema, Validation::Subset).map_err(|error| error.to_string())
        };
        let (of_file, wrong_ones) = run(&file, compile, in_subset);
        println!("{}: {of_file} tests", file.file_name().unwrap().display());
        ran += of_file;
        wrong.extend(wrong_ones);
    }
    println!("subset: {ran} tests whose schemas use only the six keywords, {} wrong", wrong.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(ran >= if is_whole { 188 } else { 30 }, "only {ran} tests ran");
}

#[test]
fn all_of_draft_2020_12_means_what_the_suite_says() {
    let (files, is_whole) = required_files();
    let resources = remotes();
    let compile = |schema: &Value| {
        Validator::compile_with(schema, Validation::Full, &resources).map_err(|error| error.to_string())
    };
    let (mut ran, mut in_six, mut wrong) = (0, 0, Vec::new());
    for file in &files {
        let (of_file, wrong_ones) = run(file, compile, |_| true);
        ran += of_file;
        if SUBSET.iter().any(|keyword| file.file_stem().unwrap() == *keyword) {
            in_six += of_file;
        }
        wrong.extend(wrong_ones);
    }
    println!("full: {ran} tests of {} files, {} wrong", files.len(), wrong.len());
    println!("full: {in_six} of them in the files of the six keywords");
    assert!(wrong.is_empty(), "{wrong:#?}");
    let (all, six) = if is_whole { (1_299, 227) } else { (60, 30) };
    assert!(ran >= all && in_six >= six, "only {ran} tests ran, {in_six} of the six files");
}

#[test]
fn nothing_is_fetched() {
    let schema = |target: &str| json!({ "type": "object", "properties": { "a": { "$ref": target } }, "additionalProperties": false });
    // Nothing listens on these: a connection would fail as well, but a file of that name is there.
    let file = format!("file://{}/Cargo.toml", env!("CARGO_MANIFEST_DIR"));
    let targets = ["http://localhost:1/a.json", "https://localhost:1/a.json", &file, "other.json", "urn:a:b"];
    for target in targets {
        for validation in [Validation::Subset, Validation::Declared, Validation::Full] {
            let error = Validator::compile(&schema(target), validation).unwrap_err();
            println!("{validation:?}: {error}");
            assert!(error.to_string().len() < 500, "{error}");
        }
    }
    let mut resources = SchemaResources::new();
    resources.add("urn:a:b", json!({ "type": "integer", "multipleOf": 5 }));
    let validator = Validator::compile_with(&schema("urn:a:b"), Validation::Full, &resources).unwrap();
    assert!(validator.validate(&json!({ "a": 10 })).is_ok());
    let problems = validator.validate(&json!({ "a": 11, "b": 1 })).unwrap_err();
    let texts: Vec<_> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        ["`b`: expected `a`, got unknown argument `b`", "`a`: expected a multiple of 5, got integer 11"]
    );
}
