//! What must hold for every program and for every answer of the compiler, whatever it is about.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use crate::{first_error, name_of, programs};

/// What a `.stderr` says, by program. One that is not there yet is missed elsewhere.
fn answers() -> impl Iterator<Item = (String, String)> {
    programs("fail").into_iter().filter_map(|program| {
        let answer = fs::read_to_string(program.with_extension("stderr")).ok()?;
        Some((name_of(&program), answer))
    })
}

#[test]
fn there_are_enough_programs() {
    assert!(programs("pass").len() >= 70, "{} programs must compile", programs("pass").len());
    assert!(programs("fail").len() >= 70, "{} programs must not compile", programs("fail").len());
}

/// Two programs with one answer would be one program.
#[test]
fn no_two_mistakes_of_a_topic_begin_alike() {
    let mut seen: HashMap<(String, String), String> = HashMap::new();
    for (name, answer) in answers() {
        let topic = name.split('/').next().unwrap_or_default().to_owned();
        let error = first_error(&answer).to_owned();
        if let Some(other) = seen.insert((topic, error.clone()), name.clone()) {
            panic!("{other} and {name} both begin with: {error}");
        }
    }
}

/// A user has never heard of what generated code is made of.
#[test]
fn no_answer_of_ours_names_what_is_private() {
    for (name, answer) in answers() {
        for line in answer.lines().filter(|line| line.contains("__private") || line.contains("async_trait")) {
            // The compiler's own notes: where a bound stands, and which of several methods it may have meant.
            let of_the_compiler = ["note: required by a bound in ", "= note: candidate #"];
            let start = line.trim_start_matches([' ', '|']);
            assert!(of_the_compiler.iter().any(|note| start.starts_with(note)), "{name}: {line}");
        }
    }
}

/// A program that only compiles proves little.
#[test]
fn every_program_that_compiles_asserts_something() {
    for program in programs("pass") {
        let text = fs::read_to_string(&program).expect("a program can be read");
        assert!(text.contains("assert!(") || text.contains("assert_eq!("), "{}", name_of(&program));
    }
}

#[test]
fn every_program_says_what_it_is_about() {
    for program in programs("pass").into_iter().chain(programs("fail")) {
        let text = fs::read_to_string(&program).expect("a program can be read");
        let first = text.lines().next().unwrap_or_default();
        assert!(first.starts_with("//! ") && first.len() > 12, "{}: {first}", name_of(&program));
        let folder =
            program.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
        let readme = include_str!("../README.md");
        assert!(readme.contains(&format!("`{folder}`")), "the topic `{folder}` is not in README.md");
    }
}

/// While a program is being written, what is unfinished is the only error: the function and the tool stay known.
#[test]
fn what_is_half_typed_is_one_error() {
    let half_typed = [
        "hygiene/half_typed_word",
        "hygiene/half_typed_body",
        "args/missing_type",
        "hygiene/other_uses_still_resolve",
    ];
    let answers: HashMap<_, _> = answers().collect();
    for name in half_typed {
        let answer = &answers[name];
        let errors = answer.lines().filter(|line| line.starts_with("error")).count();
        assert_eq!(errors, 1, "{name}: {answer}");
    }
}
